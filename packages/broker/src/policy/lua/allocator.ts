/**
 * Lua's allocator as WebAssembly. Lua calls it some thirty times for a job, and the way to
 * JavaScript and back took a fifth of a job's time.
 *
 * A state's account is three words of 32 bits in that memory, at the address that Lua passes first:
 * the bytes in use, the most it may use, and 1 after it was refused more.
 */
export const ACCOUNT_BYTES = 12;
export const USED = 0;
export const MAX = 4;
export const REFUSED = 8;

const I32 = 0x7f;
const [CALL, END, IF, RETURN] = [0x10, 0x0b, 0x04, 0x0f];
const [NO_RESULT, SELECT] = [0x40, 0x1b];
const [ADD, SUBTRACT, AND, IS_ZERO, IS_GREATER] = [0x6a, 0x6b, 0x71, 0x45, 0x4b];
const [REALLOC, FREE] = [0, 1];

const get = (local: number): number[] => [0x20, local];
const set = (local: number): number[] => [0x21, local];
const number = (value: number): number[] => [0x41, value];
const load = (offset: number): number[] => [0x28, 2, offset];
const store = (offset: number): number[] => [0x36, 2, offset];

/** The parameters of a `lua_Alloc`, and two locals. */
const [ACCOUNT, POINTER, OLD, SIZE, HAD, AT] = [0, 1, 2, 3, 4, 5];

/** Adds `size - had` to what is in use. */
const COUNT = [
  ...get(ACCOUNT!),
  ...[...get(ACCOUNT!), ...load(USED), ...get(SIZE!), ADD!, ...get(HAD!), SUBTRACT!],
  ...store(USED),
];

const BODY = [
  // Without a pointer `old` is no size but the kind of what is made.
  ...[...number(0), ...get(OLD!), ...get(POINTER!), IS_ZERO!, SELECT!, ...set(HAD!)],
  ...[...get(SIZE!), IS_ZERO!, IF!, NO_RESULT!],
  ...[...COUNT, ...get(POINTER!), CALL!, FREE!, ...number(0), RETURN!, END!],
  // More than it has, and more than is left. Written so that no sum exceeds 32 bits.
  ...[...get(SIZE!), ...get(HAD!), IS_GREATER!],
  ...[...get(SIZE!), ...get(HAD!), SUBTRACT!],
  ...[...get(ACCOUNT!), ...load(MAX), ...get(ACCOUNT!), ...load(USED), SUBTRACT!],
  ...[IS_GREATER!, AND!, IF!, NO_RESULT!],
  ...[...get(ACCOUNT!), ...number(1), ...store(REFUSED), ...number(0), RETURN!, END!],
  ...[...get(POINTER!), ...get(SIZE!), CALL!, REALLOC!, ...set(AT!)],
  ...[...get(AT!), IF!, NO_RESULT!, ...COUNT, END!],
  ...[...get(AT!), END!],
];

const vector = (items: readonly (readonly number[])[]): number[] => [items.length, ...items.flat()];
const bytes = (content: readonly number[]): number[] => [content.length, ...content];
const text = (name: string): number[] => bytes([...Buffer.from(name)]);
const imported = (name: string, kind: readonly number[]): number[] => [
  ...text("lua"),
  ...text(name),
  ...kind,
];

const TYPES = [
  [0x60, ...bytes([I32, I32]), ...bytes([I32])],
  [0x60, ...bytes([I32]), ...bytes([])],
  [0x60, ...bytes([I32, I32, I32, I32]), ...bytes([I32])],
];

const IMPORTS = [
  imported("realloc", [0, 0]),
  imported("free", [0, 1]),
  imported("memory", [2, 0, 0]),
];

const section = (id: number, content: readonly number[]): number[] => {
  const { length } = content;
  return [id, (length & 0x7f) | 0x80, length >> 7, ...content];
};

const LOCALS = [1, 2, I32];
const CODE = [...LOCALS, ...BODY];

const PROGRAM = Uint8Array.from([
  ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  ...section(1, vector(TYPES)),
  ...section(2, vector(IMPORTS)),
  ...section(3, [1, 2]),
  ...section(7, [1, ...text("allocate"), 0, 2]),
  ...section(10, [1, (CODE.length & 0x7f) | 0x80, CODE.length >> 7, ...CODE]),
]);

/** The allocator that works on the memory of this module. */
export function allocatorOf(lua: WebAssembly.ModuleImports): (...args: number[]) => number {
  const instance = new WebAssembly.Instance(new WebAssembly.Module(PROGRAM), { lua });
  return instance.exports.allocate as (...args: number[]) => number;
}
