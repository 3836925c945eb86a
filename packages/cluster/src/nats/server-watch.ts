/**
 * Leaves a NATS server that has lost its peers. Such a server keeps its clients and answers them,
 * but nothing that needs a quorum goes through it: neither the registry nor the logs. So a node
 * whose entry was not renewed for a while connects to another one, unless nodes at other servers
 * say the same. So does one whose log confirms nothing for longer than an election takes.
 * If that does not help it waits longer each time: the trouble is everywhere.
 */
import type { Clock, Timer } from "@sluice/protocol";
import { SERVER_LOOK_MS, SERVER_TROUBLE_MS, SERVER_TROUBLE_MS_MAX } from "../limits.ts";

export interface ServerWatchOptions {
  readonly clock: Clock;
  readonly link: { readonly isUp: boolean; leaveServer(): void };
  /** For how long nothing has gone through; 0: all is well. */
  readonly troubleMs: () => number;
  readonly onLeave: (troubleMs: number) => void;
}

export class ServerWatch {
  readonly #options: ServerWatchOptions;
  #timer: Timer | undefined;
  #isOver = false;
  /** Trouble counts from here on: a new server has its time too. */
  #since = Number.NEGATIVE_INFINITY;
  #patienceMs = SERVER_TROUBLE_MS;

  constructor(options: ServerWatchOptions) {
    this.#options = options;
    this.#next();
  }

  stop(): void {
    this.#isOver = true;
    this.#timer?.cancel();
  }

  #next(): void {
    if (this.#isOver) return;
    const { clock } = this.#options;
    this.#timer = clock.at(clock.now() + SERVER_LOOK_MS, () => {
      this.#look();
      this.#next();
    });
    this.#timer.unref?.();
  }

  #look(): void {
    const { clock, link, troubleMs, onLeave } = this.#options;
    const now = clock.now();
    const trouble = troubleMs();
    if (trouble < SERVER_TROUBLE_MS) this.#patienceMs = SERVER_TROUBLE_MS;
    // Without a connection the client looks for another server by itself.
    if (!link.isUp) this.#since = now;
    const ms = Math.min(trouble, now - this.#since);
    if (ms < this.#patienceMs) return;
    this.#since = now;
    this.#patienceMs = Math.min(2 * this.#patienceMs, SERVER_TROUBLE_MS_MAX);
    onLeave(ms);
    link.leaveServer();
  }
}

/** Nodes whose names differ in a number or a letter at the end begin with different servers. */
export function firstServerOf(node: string, servers: number): number {
  const sum = [...node].reduce((total, letter) => total + letter.codePointAt(0)!, 0);
  return sum % Math.max(1, servers);
}
