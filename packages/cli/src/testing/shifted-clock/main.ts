// Loaded before a program, it sets the program's wall clock ahead or back: SHIFT_MS.

const shiftMs = Number(process.env.SHIFT_MS ?? 0);
const now = Date.now.bind(Date);

Date.now = () => now() + shiftMs;
