// Runs one group in a process of its own and hands its figures on as they come.

import { fork } from "node:child_process";
import { join } from "node:path";
import type { Figure } from "./figure.ts";

const PROGRAM = join(import.meta.dirname, "run-group.ts");

export interface GroupCall {
  readonly bench: string;
  readonly group: string;
  readonly isQuick: boolean;
}

// Answers undefined, or how the process failed.
export function runInChild(
  { bench, group, isQuick }: GroupCall,
  onFigure: (figure: Figure) => void,
): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const child = fork(PROGRAM, [bench, group, isQuick ? "quick" : "full"], {
      execArgv: ["--expose-gc"],
      // What a group writes is never a figure.
      stdio: ["ignore", 2, 2, "ipc"],
    });
    const end = (): void => void child.kill();
    process.on("exit", end);
    child.on("message", (figure) => onFigure(figure as Figure));
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      process.off("exit", end);
      resolve(code === 0 ? undefined : `${group} ended with ${signal ?? code}`);
    });
  });
}
