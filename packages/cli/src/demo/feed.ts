import type { SluiceHandles } from "@sluice/client";

/** Does something again and again, until the demo ends. */
export type Every = (ms: number, work: () => Promise<unknown>) => void;

/** Starts the traffic of one queue. */
export type Feed = (sluice: SluiceHandles, every: Every) => Promise<void>;

export const pass = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
