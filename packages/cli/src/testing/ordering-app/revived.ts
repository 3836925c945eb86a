import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

const RESTART_MS = 100;

// A program that is started again whenever it ends, as a supervisor does.
export class Revived {
  readonly #args: () => readonly string[];
  #child: ChildProcess | undefined;
  #isStopped = false;

  constructor(args: () => readonly string[]) {
    this.#args = args;
    void this.#run();
  }

  kill(): void {
    this.#child?.kill("SIGKILL");
  }

  stop(): void {
    this.#isStopped = true;
    this.#child?.kill("SIGKILL");
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      this.#child = spawn(process.execPath, this.#args(), { stdio: "ignore" });
      await once(this.#child, "exit");
      // What it needs may be away as well.
      await new Promise((resolve) => setTimeout(resolve, RESTART_MS));
    }
  }
}
