/**
 * The line to the server. Its states:
 *
 *   connecting   nothing has come yet
 *   live         a pulse has come within the last seconds
 *   stale        no pulse for too long: what is shown may be out of date; it keeps trying
 *   resting      the page is hidden: the connection is closed, as a browser has few of them
 */

export type PulseState = "connecting" | "live" | "stale" | "resting";

export interface PulseEvent {
  at: number;
  queues: readonly string[];
  isCut: boolean;
}

/** The part of an EventSource that is used here. */
export interface Source {
  addEventListener(type: string, heard: (event: { data?: string }) => void): void;
  close(): void;
}

export interface PulseOptions {
  open: () => Source;
  now?: () => number;
  /** The time on this machine's wall. */
  wall?: () => number;
}

type Heard = (pulse: PulseEvent) => void;

/** Pulses come every five seconds at least, so two have been missed. */
export const STALE_MS = 11_000;
/** An EventSource gives up after some answers; so it is opened again after this long. */
const REOPEN_MS = 2_000;
/** Less than this may be the way of a pulse, and is no difference to a reader. */
const SKEW_MS = 2_000;

export class PulseConnection {
  readonly #open: () => Source;
  readonly #now: () => number;
  readonly #heard = new Set<Heard>();
  readonly #watchers = new Set<() => void>();
  #source: Source | undefined;
  #state: PulseState = "connecting";
  #lastAt: number;
  #openedAt = 0;
  #isBroken = false;
  readonly #wall: () => number;
  #aheadMs = 0;

  constructor({ open, now = () => performance.now(), wall = Date.now }: PulseOptions) {
    this.#open = open;
    this.#now = now;
    this.#wall = wall;
    this.#lastAt = now();
  }

  get state(): PulseState {
    return this.#state;
  }

  /** The server's time, for ages and deadlines: a phone's clock may be minutes off. */
  serverNow(): number {
    return this.#wall() + (Math.abs(this.#aheadMs) > SKEW_MS ? this.#aheadMs : 0);
  }

  /** How long nothing has been heard. */
  get silentMs(): number {
    return this.#now() - this.#lastAt;
  }

  hear(heard: Heard): () => void {
    this.#heard.add(heard);
    return () => this.#heard.delete(heard);
  }

  /** Calls back when the state changes. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  connect(): void {
    this.#source?.close();
    this.#isBroken = false;
    this.#openedAt = this.#now();
    const source = this.#open();
    this.#source = source;
    source.addEventListener("pulse", ({ data }) => {
      if (this.#source === source) this.#beat(JSON.parse(data ?? "{}"));
    });
    source.addEventListener("error", () => {
      if (this.#source === source) this.#isBroken = true;
    });
  }

  #beat(pulse: PulseEvent): void {
    const hadGap = this.#state !== "live";
    this.#lastAt = this.#now();
    this.#aheadMs = pulse.at - this.#wall();
    this.#isBroken = false;
    this.#become("live");
    // After a gap anything may have changed.
    const told = hadGap ? { ...pulse, isCut: true } : pulse;
    for (const heard of this.#heard) heard(told);
  }

  /** To be called every second or so: notices silence, and dials again. */
  check(): void {
    if (this.#state === "resting") return;
    if (this.#state === "live" && (this.#isBroken || this.silentMs > STALE_MS)) {
      this.#become("stale");
    } else if (this.#state === "connecting" && this.silentMs > STALE_MS) this.#become("stale");
    const isLost = this.#isBroken || this.silentMs > STALE_MS;
    if (isLost && this.#now() - this.#openedAt >= REOPEN_MS) this.connect();
  }

  rest(): void {
    this.#source?.close();
    this.#source = undefined;
    this.#become("resting");
  }

  /** The page is visible again. */
  wake(): void {
    if (this.#state !== "resting") return;
    this.#lastAt = this.#now();
    this.#become("connecting");
    this.connect();
  }

  close(): void {
    this.#source?.close();
    this.#source = undefined;
  }

  #become(state: PulseState): void {
    if (this.#state === state) return;
    this.#state = state;
    for (const watcher of this.#watchers) watcher();
  }
}
