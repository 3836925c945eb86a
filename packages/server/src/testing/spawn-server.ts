import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

const PROGRAM = join(import.meta.dirname, "child", "main.ts");

export interface Spawned {
  readonly port: number;
  readonly url: string;
  /** Ends the process as a power switch would, without a word. */
  kill(): Promise<void>;
}

/** A server process on `dir`; on the port of an earlier one when that is named. */
export async function spawnServer(dir: string, port = 0, key?: string): Promise<Spawned> {
  const args = [PROGRAM, dir, String(port), ...(key === undefined ? [] : [key])];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const listening = await firstLine(child);
  return {
    port: listening,
    url: `http://127.0.0.1:${listening}`,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

async function firstLine(child: ChildProcess): Promise<number> {
  const exited = once(child, "exit").then(([code]) => {
    throw new Error(`the server ended with ${code} before it listened`);
  });
  const [line] = await Promise.race([once(child.stdout!, "data"), exited]);
  return Number(String(line).trim());
}
