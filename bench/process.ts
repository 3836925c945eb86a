// A process of its own that does what it is asked to, one question after the other.

import { type ChildProcess, fork } from "node:child_process";
import { basename } from "node:path";

interface Answer {
  readonly answer?: unknown;
  readonly error?: string;
}

export class Process implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #name: string;
  readonly #kill = (): void => void this.#child.kill("SIGKILL");

  constructor(program: string, args: readonly string[] = []) {
    this.#name = [basename(program, ".ts"), ...args].join(" ");
    const stdio = ["ignore", 2, 2, "ipc"] as ["ignore", 2, 2, "ipc"];
    this.#child = fork(program, args, { execArgv: ["--expose-gc"], stdio });
    // Before the servers that it speaks to, whose end it would complain of.
    process.prependListener("exit", this.#kill);
  }

  ask<T>(question: string, ...args: readonly unknown[]): Promise<T> {
    this.#child.send({ question, args });
    return new Promise((resolve, reject) => {
      const gone = (code: number | null): void =>
        reject(new Error(`the ${this.#name} ended with ${code} before its answer`));
      this.#child.once("exit", gone);
      this.#child.once("message", ({ answer, error }: Answer) => {
        this.#child.off("exit", gone);
        if (error === undefined) resolve(answer as T);
        else reject(new Error(`the ${this.#name}: ${error}`));
      });
    });
  }

  get pid(): number {
    return this.#child.pid!;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.off("exit", this.#kill);
    this.#kill();
  }
}
