/**
 * How nodes tell each other that they live. A beat goes to every node that listens, the sender
 * included, and is kept nowhere: one that is lost is lost, and the next one says the same.
 */
export interface Heartbeats {
  /** Rejects when it is known that the beat was not sent. */
  send(beat: string): Promise<void>;
  /** Calls back for each beat of each node. Resolves when it does, with a function that ends it. */
  listen(onBeat: (beat: string) => void): Promise<() => void>;
  close(): Promise<void>;
}
