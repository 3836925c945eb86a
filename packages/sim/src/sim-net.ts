// A network of sockets that a seed makes slow, cuts, and leaves half open: one end may see the
// connection close long after the other. What was sent arrives in order, up to the cut.

import { type Clock, SluiceError } from "@sluice/protocol";
import type { Socket } from "@sluice/protocol/wire";
import type { Random } from "./random.ts";

// Both ends see a cut after this time at the latest. In the real world heartbeats ensure that.
const UNHEARD_MS_MAX = 6000;

class SimSocket implements Socket {
  onmessage: (message: Uint8Array) => void = () => {};
  onclose: (reason: string) => void = () => {};
  ondrain: () => void = () => {};
  readonly #wire: Wire;
  readonly #isClient: boolean;
  isClosed = false;

  constructor(wire: Wire, isClient: boolean) {
    this.#wire = wire;
    this.#isClient = isClient;
  }

  readonly bufferedBytes = 0;

  send(message: Uint8Array): void {
    // The other end gets bytes of its own, as it would from a real network.
    if (!this.isClosed) this.#wire.carry(message.slice(), this.#isClient);
  }

  close(_code: number, reason: string): void {
    this.shut(reason);
    this.#wire.cut();
  }

  shut(reason: string): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.onclose(reason);
  }

  pause(): void {}

  resume(): void {}
}

// One connection.
class Wire {
  readonly client: SimSocket;
  readonly server: SimSocket;
  readonly #clock: Clock;
  readonly #random: Random;
  // When the last message of each direction arrives. The next one arrives no sooner.
  readonly #arrival = { toServer: 0, toClient: 0 };
  #cutAt = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
    this.client = new SimSocket(this, true);
    this.server = new SimSocket(this, false);
  }

  carry(message: Uint8Array, isToServer: boolean): void {
    if (this.#clock.now() >= this.#cutAt) return;
    const way = isToServer ? "toServer" : "toClient";
    const at = Math.max(this.#arrival[way], this.#clock.now() + this.#random.between(0, 40));
    this.#arrival[way] = at;
    const to = isToServer ? this.server : this.client;
    this.#clock.at(at, () => {
      if (at < this.#cutAt && !to.isClosed) to.onmessage(message);
    });
  }

  // Nothing arrives any more. Each end sees the cut after its own delay.
  cut(): void {
    if (this.#cutAt <= this.#clock.now()) return;
    this.#cutAt = this.#clock.now();
    for (const end of [this.client, this.server]) {
      const ms = this.#random.chance(0.3) ? this.#random.between(0, UNHEARD_MS_MAX) : 1;
      this.#clock.at(this.#clock.now() + ms, () => end.shut("cut"));
    }
  }
}

export class SimNet {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #accept: (socket: SimSocket) => void;
  readonly #wires = new Set<Wire>();
  isDown = false;

  constructor(clock: Clock, random: Random, accept: (socket: SimSocket) => void) {
    this.#clock = clock;
    this.#random = random;
    this.#accept = accept;
  }

  readonly dial = async (): Promise<Socket> => {
    if (this.isDown) throw new SluiceError("DISCONNECTED", "nothing listens there");
    const wire = new Wire(this.#clock, this.#random);
    this.#wires.add(wire);
    this.#accept(wire.server);
    return wire.client;
  };

  cutSome(share: number): void {
    for (const wire of this.#wires) {
      if (!this.#random.chance(share)) continue;
      this.#wires.delete(wire);
      wire.cut();
    }
  }
}
