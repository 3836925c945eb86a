/**
 * Connects to whoever owns a partition. The owner is looked up at every dial, and a connection to
 * one that is not the owner any more is closed as soon as that is known: a frozen node would not
 * close it by itself.
 */
import { type Clock, toSluiceError } from "@sluice/protocol";
import type { Socket } from "@sluice/protocol/wire";
import { DIAL_MS_MAX } from "../limits.ts";
import { dialWithin } from "../within.ts";
import { moved } from "./make-call.ts";

export interface OwnerDialOptions {
  /** Where the owner of a partition is reached; undefined while there is none. */
  readonly addressOf: (partition: number) => string | undefined;
  /** Calls back when an owner may have changed. */
  readonly onChange: (listener: () => void) => () => void;
  readonly dial: (url: string) => Promise<Socket>;
  readonly clock: Clock;
}

export class OwnerDial {
  readonly #options: OwnerDialOptions;
  /** The latest connection to each partition, and where it leads. */
  readonly #sockets = new Map<number, { socket: Socket; address: string }>();
  readonly #stop: () => void;

  constructor(options: OwnerDialOptions) {
    this.#options = options;
    this.#stop = options.onChange(() => this.#look());
  }

  readonly dial = async (partition: number): Promise<Socket> => {
    const { addressOf, dial, clock } = this.#options;
    const address = addressOf(partition);
    if (address === undefined || address === "") {
      throw moved(partition, "nobody owns it at the moment");
    }
    try {
      const dialled = dial(partitionUrl(address, partition));
      const socket = await dialWithin(clock, DIAL_MS_MAX, dialled);
      this.#sockets.set(partition, { socket, address });
      // Should it have moved meanwhile, whoever asked hears of it like of any later move.
      this.#look();
      return socket;
    } catch (error) {
      const { message } = toSluiceError(error);
      throw moved(partition, `its owner at ${address} cannot be reached: ${message}`);
    }
  };

  close(): void {
    this.#stop();
    this.#sockets.clear();
  }

  #look(): void {
    for (const [partition, { socket, address }] of this.#sockets) {
      const now = this.#options.addressOf(partition);
      if (now === address) continue;
      this.#sockets.delete(partition);
      // Whoever has just been given the socket does not listen to it yet.
      setImmediate(() => socket.close(1000, "the partition has moved"));
    }
  }
}

function partitionUrl(address: string, partition: number): string {
  const url = new URL("/v1/stream", address.replace(/^http/, "ws"));
  url.searchParams.set("partition", String(partition));
  return url.href;
}
