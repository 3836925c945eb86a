import type { Broker } from "../port.ts";

/** How an implementation ends before it is opened again on the same data. */
export type HowItEnds = "crash" | "close";

/** One implementation, freshly opened and empty, and what a case may do with it from outside. */
export interface Opened {
  readonly broker: Broker;
  /** The time that the broker sees, in milliseconds. */
  now(): number;
  /**
   * Lets time pass and answers when all that fell due meanwhile has come through. With 0 no time
   * passes: it only waits until what is under way has come through. A fake clock does this at
   * once; an implementation on real time waits, a few milliseconds more than it was asked to.
   */
  advance(ms: number): Promise<void>;
  /**
   * Ends the broker and opens it again on the same data; answers the new one. Absent: it cannot
   * be opened again, and the cases that need it are reported as left out.
   */
  readonly reopen?: ((how: HowItEnds) => Promise<Broker>) | undefined;
  /** Ends everything, whatever the case has done with the broker. */
  close(): Promise<void>;
  /**
   * The unit of all durations of the suite, in milliseconds: long against the lateness of the
   * implementation's timers and calls. Default 100.
   */
  readonly stepMs?: number | undefined;
  /** How far a time may be off, in milliseconds. Default 0, for a fake clock. */
  readonly slackMs?: number | undefined;
}

/** What waits for something to happen, without time passing. */
export interface Patience {
  readonly broker: Broker;
  settle(): Promise<void>;
  until(holds: () => boolean, otherwise: string | (() => string)): Promise<void>;
}

export type Open = () => Promise<Opened>;
