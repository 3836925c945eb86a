// The other end of a `Process`: answers its questions, and ends with it.

export type Questions = Readonly<Record<string, (...args: never[]) => unknown>>;

// Processor time since the last question about it, in microseconds.
let before = process.cpuUsage();

export function answer(questions: Questions): void {
  const all: Questions = { ...questions, cpuMicros };
  process.on("disconnect", () => process.exit(1));
  process.on("message", async ({ question, args }: { question: string; args: never[] }) => {
    try {
      process.send!({ answer: await all[question]!(...args) });
    } catch (error) {
      process.send!({ error: error instanceof Error ? error.stack : String(error) });
    }
  });
}

function cpuMicros(): number {
  const { user, system } = process.cpuUsage(before);
  before = process.cpuUsage();
  return user + system;
}
