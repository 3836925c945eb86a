import type { HowItEnds } from "./opened.ts";
import type { Scene } from "./scene.ts";

/** One sentence about the port, and how to find out whether it holds. */
export interface ConformanceCase {
  readonly subject: string;
  readonly name: string;
  /** How the broker ends before it is opened again; absent: the case does not need that. */
  readonly reopens?: HowItEnds;
  run(scene: Scene): Promise<void>;
}

type Run = (scene: Scene) => Promise<void>;
type Table = Readonly<Record<string, Run>>;

/** A case that begins with the queue "q" as it is by default. */
export function onQueue(run: Run): Run {
  return async (scene) => {
    await scene.queue();
    await run(scene);
  };
}

export function cases(subject: string, table: Table): ConformanceCase[] {
  return Object.entries(table).map(([name, run]) => ({ subject, name, run }));
}

/**
 * Cases that open the broker again: each once after a crash and once after a close. On real time
 * that takes a while, so what must not have happened yet afterwards has some steps to spare.
 */
export function durableCases(subject: string, table: Table): ConformanceCase[] {
  return Object.entries(table).flatMap(([name, run]) => [
    { subject: `${subject}, after a crash`, name, reopens: "crash" as const, run },
    { subject: `${subject}, after a close`, name, reopens: "close" as const, run },
  ]);
}

/** What registers one test, such as `test` of `node:test`. */
export type Register = (name: string, run: (test: RunningTest) => Promise<void>) => unknown;

export interface RunningTest {
  skip(reason: string): void;
}
