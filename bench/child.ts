// Runs one group in a process of its own and hands its figures on as they come.

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Figure, Progress, Scale } from "./figure.ts";

const END_MS_MAX = 15_000;
const PROGRAM = join(import.meta.dirname, "run-group.ts");

export interface GroupCall {
  readonly bench: string;
  readonly group: string;
  readonly scale: Scale;
}

interface Message {
  readonly figure?: Figure;
  readonly progress?: { readonly share: number; readonly what: string };
}

let running: ChildProcess | undefined;
let isEnding = false;

// Resolves when the group that is under way has stopped its servers and removed its directory.
export async function endChild(): Promise<void> {
  isEnding = true;
  if (running === undefined) return;
  const ended = once(running, "exit");
  running.kill("SIGTERM");
  // Servers end with the process that started them, even when it is killed.
  const kill = setTimeout(() => running?.kill("SIGKILL"), END_MS_MAX);
  await ended;
  clearTimeout(kill);
}

// Answers undefined, or how the process failed.
export function runInChild(
  { bench, group, scale }: GroupCall,
  onFigure: (figure: Figure) => void,
  onProgress: Progress,
): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const child = fork(PROGRAM, [bench, group, scale.name], {
      execArgv: ["--expose-gc"],
      // A figure that could not be measured is not a number.
      serialization: "advanced",
      // What a group writes is never a figure.
      stdio: ["ignore", 2, 2, "ipc"],
    });
    running = child;
    const end = (): void => void child.kill();
    process.on("exit", end);
    child.on("message", (message) => {
      const { figure, progress } = message as Message;
      if (figure !== undefined) onFigure(figure);
      if (progress !== undefined) onProgress(progress.share, progress.what);
    });
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      process.off("exit", end);
      running = undefined;
      // The run must not continue with the next group.
      if (isEnding) return;
      resolve(code === 0 ? undefined : `${group} ended with ${signal ?? code}`);
    });
  });
}
