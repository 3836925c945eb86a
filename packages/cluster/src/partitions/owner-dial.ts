/**
 * Connects to the owner of a partition. The owner is looked up at every dial, and a connection to
 * one that is not the owner any more is closed as soon as that is known: a frozen node would not
 * close it by itself. A client that does not reach the owner goes through another node.
 */
import { type Clock, toSluiceError } from "@sluice/protocol";
import type { Socket } from "@sluice/protocol/wire";
import { DIAL_MS_MAX, RELAY_AFTER_MS } from "../limits.ts";
import { dialWithin, within } from "../within.ts";
import { moved } from "./make-call.ts";

export interface OwnerDialOptions {
  /** Where the owner of a partition is reached; undefined while there is none. */
  readonly addressOf: (partition: number) => string | undefined;
  /** Calls back when an owner may have changed. */
  readonly onChange: (listener: () => void) => () => void;
  readonly dial: (url: string) => Promise<Socket>;
  /** Other nodes, which pass a stream on to the owner. Default: none does. */
  readonly relays?: (() => readonly string[]) | undefined;
  readonly clock: Clock;
}

export class OwnerDial {
  readonly #options: OwnerDialOptions;
  /** The latest connection to each partition, and where it leads. */
  readonly #sockets = new Map<number, { socket: Socket; address: string }>();
  readonly #stop: () => void;
  /** One after the other: one of them may not reach the owner either. */
  #relays = 0;

  constructor(options: OwnerDialOptions) {
    this.#options = options;
    this.#stop = options.onChange(() => this.#look());
  }

  readonly dial = async (partition: number): Promise<Socket> => {
    const address = this.#options.addressOf(partition);
    if (address === undefined || address === "") {
      throw moved(partition, "no node owns it at the moment");
    }
    try {
      const socket = await this.#reach(address, partition);
      this.#sockets.set(partition, { socket, address });
      // If it has moved meanwhile, the caller learns of it as of any later move.
      this.#look();
      return socket;
    } catch (error) {
      const { message } = toSluiceError(error);
      throw moved(partition, `its owner at ${address} cannot be reached: ${message}`);
    }
  };

  /** The owner itself; when it does not answer soon, another node is asked to pass it on. */
  async #reach(address: string, partition: number): Promise<Socket> {
    const { dial, clock, relays } = this.#options;
    const direct = dialWithin(clock, DIAL_MS_MAX, dial(partitionUrl(address, partition)));
    const others = (relays?.() ?? []).filter((url) => url !== address);
    if (others.length === 0) return direct;
    direct.catch(() => {});
    try {
      return await within(clock, RELAY_AFTER_MS, direct);
    } catch {
      const url = others[this.#relays++ % others.length]!;
      const relayed = dialWithin(clock, DIAL_MS_MAX, dial(partitionUrl(url, partition, true)));
      const first = await Promise.any([direct, relayed]);
      for (const one of [direct, relayed]) {
        one.then((socket) => socket !== first && socket.close(1000, "not needed")).catch(() => {});
      }
      return first;
    }
  }

  close(): void {
    this.#stop();
    this.#sockets.clear();
  }

  #look(): void {
    for (const [partition, { socket, address }] of this.#sockets) {
      const now = this.#options.addressOf(partition);
      if (now === address) continue;
      this.#sockets.delete(partition);
      // The caller that has just been given the socket does not listen to it yet.
      setImmediate(() => socket.close(1000, "the partition has moved"));
    }
  }
}

export function partitionUrl(address: string, partition: number, isRelayed = false): string {
  const url = new URL("/v1/stream", address.replace(/^http/, "ws"));
  url.searchParams.set("partition", String(partition));
  if (isRelayed) url.searchParams.set("relay", "1");
  return url.href;
}
