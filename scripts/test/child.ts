// Runs a program as the leader of its own process group, so that everything it started can be
// ended with it: when its budget is over, when the run is interrupted, or when the runner ends.

import { spawn } from "node:child_process";

export interface ChildOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly budgetMs: number;
  readonly onOutput: (text: string) => void;
  readonly onErrorOutput: (text: string) => void;
}

export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly isOverBudget: boolean;
}

const liveGroups = new Set<number>();

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group has ended by itself.
  }
}

export function killAllChildren(): void {
  for (const pid of liveGroups) killGroup(pid);
  liveGroups.clear();
}

export function runChild(args: readonly string[], options: ChildOptions): Promise<ChildEnd> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { pid } = child;
    if (pid !== undefined) liveGroups.add(pid);
    let isOverBudget = false;
    const timer = setTimeout(() => {
      isOverBudget = true;
      if (pid !== undefined) killGroup(pid);
    }, options.budgetMs);
    child.stdout.setEncoding("utf8").on("data", options.onOutput);
    child.stderr.setEncoding("utf8").on("data", options.onErrorOutput);
    child.on("error", reject);
    // What a test left running holds the pipes open, so it is ended with its leader: otherwise
    // "close" would wait for it.
    child.on("exit", () => {
      if (pid !== undefined) killGroup(pid);
    });
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (pid !== undefined) liveGroups.delete(pid);
      resolve({ code, signal, isOverBudget });
    });
  });
}
