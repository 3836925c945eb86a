/**
 * Whether the other nodes can be reached. A node that is cut off from the others but not from NATS
 * looks alive to the registry, and yet what it owns cannot be used. So each node calls at a few
 * others now and then, and says in its entry whom it does not reach; one that most of its callers
 * miss gets no partitions.
 */
import type { Clock, Timer } from "@sluice/protocol";
import type { Socket } from "@sluice/protocol/wire";
import { CALLERS, PROBE_MS, PROBE_MS_MAX, PROBES_FAILED, PROBES_WELL } from "../limits.ts";
import { dialWithin } from "../within.ts";

export interface PeersOptions {
  readonly clock: Clock;
  readonly node: string;
  /** Those that live, by name. */
  readonly living: () => readonly { id: string; address: string }[];
  readonly dial: (url: string) => Promise<Socket>;
}

interface Peer {
  isReached: boolean;
  /** Calls in a row that say otherwise. */
  doubts: number;
}

export class Peers {
  readonly #options: PeersOptions;
  #peers = new Map<string, Peer>();
  #timer: Timer | undefined;
  #isOver = false;

  constructor(options: PeersOptions) {
    this.#options = options;
    this.#next();
  }

  /** Those that do not answer. */
  get unreached(): string[] {
    return [...this.#peers].filter(([, { isReached }]) => !isReached).map(([id]) => id);
  }

  stop(): void {
    this.#isOver = true;
    this.#timer?.cancel();
  }

  #next(): void {
    if (this.#isOver) return;
    const { clock } = this.#options;
    this.#timer = clock.at(clock.now() + PROBE_MS, () => {
      void this.#callAll().finally(() => this.#next());
    });
    this.#timer.unref?.();
  }

  async #callAll(): Promise<void> {
    const { living, node } = this.#options;
    const called = calledBy(node, living());
    const known = this.#peers;
    this.#peers = new Map(
      called.map(({ id }) => [id, known.get(id) ?? { isReached: true, doubts: 0 }]),
    );
    await Promise.all(
      called.map(async ({ id, address }) => this.#judge(id, await this.#call(address))),
    );
  }

  async #call(address: string): Promise<boolean> {
    const { dial, clock } = this.#options;
    try {
      const url = new URL("/v1/stream", address.replace(/^http/, "ws")).href;
      const socket = await dialWithin(clock, PROBE_MS_MAX, dial(url));
      socket.close(1000, "only a call");
      return true;
    } catch {
      return false;
    }
  }

  #judge(id: string, isReached: boolean): void {
    const peer = this.#peers.get(id);
    if (peer === undefined) return;
    peer.doubts = peer.isReached === isReached ? 0 : peer.doubts + 1;
    if (peer.doubts < (peer.isReached ? PROBES_FAILED : PROBES_WELL)) return;
    peer.isReached = isReached;
    peer.doubts = 0;
  }
}

/** The next few in a circle of all that live, so that many nodes make no more calls than few. */
function calledBy<N extends { id: string }>(node: string, living: readonly N[]): N[] {
  const others = living.filter(({ id }) => id !== node);
  const after = others.filter(({ id }) => id > node);
  const before = others.filter(({ id }) => id < node);
  return [...after, ...before].slice(0, CALLERS);
}
