import type { FairnessKey } from "@sluice/protocol";
import type { Dependency } from "./dependency.ts";
import type { Transaction } from "./transaction.ts";

/** A job as its handler sees it. */
export interface WorkJob<Payload> {
  readonly id: string;
  readonly queue: string;
  readonly payload: Payload;
  readonly headers: Readonly<Record<string, string>>;
  /** 0 on the first delivery. */
  readonly attempt: number;
  /** Failures that it may have: the last one is final. */
  readonly attempts: number;
  /** How often it was handed out, this time included, also when that cost no attempt. */
  readonly deliveries: number;
  readonly tier: number;
  readonly fairnessKey: FairnessKey;
  readonly addedAt: number;
  /** Writes a line of up to 1 KiB about the job. The newest 200 are kept, also over a crash. */
  readonly log: (line: string) => Promise<void>;
  /** The jobs that it waited for, in their order, with their results; read page by page. */
  dependencies<Result = unknown>(): AsyncGenerator<Dependency<Result>, undefined>;
  /**
   * Does `act` within a transaction of PostgreSQL once for this run of the job, however often the
   * job is delivered: a note commits with it. Answers undefined when that has happened before. A
   * retry by a person is another run. Commit the transaction before the handler returns.
   */
  once<T>(tx: Transaction, act: () => T | Promise<T>): Promise<Awaited<T> | undefined>;
}
