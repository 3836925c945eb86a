/** The batches that are on their way: one of each shard at a time, the shards side by side. */
import type { Broker } from "@sluice/protocol";
import type { Client } from "pg";
import { send } from "./answers.ts";
import { type Batch, type Result, type Row, settle, type Work, type WorkFor } from "./batches.ts";
import { FAULTS_MAX, RETRY_MS, RETRY_MS_MAX } from "./limits.ts";

export interface ShardMovesOptions {
  readonly client: Client;
  readonly broker: Pick<Broker, "add">;
  /** Ends what is on its way: it is sent again under its number. */
  readonly signal: AbortSignal;
  /** The broker has taken a row, or refused it for good. */
  readonly onMoved: () => void;
  readonly onTrouble: (error: unknown) => void;
  /** There is a place for something new. */
  readonly onDone: () => void;
}

/** A batch that the broker does not answer, or not now, holds up its own shard and no other. */
export class ShardMoves {
  readonly #options: ShardMovesOptions;
  readonly #running = new Map<number, Promise<void>>();
  /** Shards for which there is nothing to do until then. */
  readonly #restingUntil = new Map<number, number>();
  /** How long a shard rests whose batch could not be sent: longer each time. */
  readonly #pauseMs = new Map<number, number>();
  /** Queues that are full: their rows are left alone until then. */
  readonly #fullUntil = new Map<string, number>();
  /** When each shard had its last batch, as a count of all batches. */
  readonly #turns = new Map<number, number>();
  #turn = 0;
  /** How often the batch of a shard has met a fault of the broker. */
  readonly #faults = new Map<number, { readonly number: bigint; readonly count: number }>();
  /** How many rows of a shard are still sent one by one: among them is one that meets a fault. */
  readonly #single = new Map<number, number>();

  constructor(options: ShardMovesOptions) {
    this.#options = options;
  }

  /** The shards that have a batch on its way. */
  get busy(): ReadonlyMap<number, unknown> {
    return this.#running;
  }

  /** Whether a batch could not be sent, and was not since. */
  get isTroubled(): boolean {
    return this.#pauseMs.size > 0;
  }

  /** Those of the shards for which something can begin now. */
  free(shards: readonly number[]): number[] {
    const now = performance.now();
    return shards.filter((shard) => {
      return !this.#running.has(shard) && (this.#restingUntil.get(shard) ?? 0) <= now;
    });
  }

  /** What can begin now: a shard that had its turn longer ago comes first. */
  next(shards: readonly number[]): WorkFor {
    const turnOf = (shard: number): number => this.#turns.get(shard) ?? 0;
    const free = this.free(shards).sort((a, b) => turnOf(a) - turnOf(b));
    return { shards: free, fullQueues: this.fullQueues, single: [...this.#single.keys()] };
  }

  move({ shard, batch }: Work): void {
    this.#turns.set(shard, ++this.#turn);
    if (batch === undefined) this.#rest(shard, RETRY_MS);
    else this.run(shard, () => this.#move(batch));
  }

  get fullQueues(): string[] {
    const now = performance.now();
    return [...this.#fullUntil].filter(([, until]) => until > now).map(([queue]) => queue);
  }

  /** Begins something beside them, unless it is at work or rests after a failure. */
  run(name: number, act: () => Promise<void>): void {
    if (this.#options.signal.aborted || this.free([name]).length === 0) return;
    const running = act().then(
      () => void this.#pauseMs.delete(name),
      (error) => this.#onFailure(name, error),
    );
    const done = running.finally(() => {
      this.#running.delete(name);
      this.#options.onDone();
    });
    this.#running.set(name, done);
  }

  /** Resolves when nothing is on its way any more. */
  async ended(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  #onFailure(name: number, error: unknown): void {
    const pauseMs = this.#pauseMs.get(name) ?? RETRY_MS;
    this.#pauseMs.set(name, Math.min(2 * pauseMs, RETRY_MS_MAX));
    this.#rest(name, pauseMs);
    this.#options.onTrouble(error);
  }

  #rest(name: number, ms: number): void {
    this.#restingUntil.set(name, performance.now() + ms);
  }

  async #move(batch: Batch): Promise<void> {
    const { client, broker, signal } = this.#options;
    const { shard, number, rows } = batch;
    const before = this.#faults.get(shard);
    const count = before?.number === number ? before.count + 1 : 1;
    const isLast = count >= FAULTS_MAX;
    const results = await send(broker, batch, { isLast, signal }).catch((error) => {
      if (error?.code === "INTERNAL") this.#faults.set(shard, { number, count });
      throw error;
    });
    await settle(client, batch, results);
    const isLater = results.some(({ kind }) => kind === "later");
    if (isLast && isLater) this.#single.set(shard, rows.length);
    else this.#countSingle(shard, rows.length);
    this.#restFull(batch.rows, results);
    if (results.some(({ kind }) => kind !== "later")) this.#options.onMoved();
  }

  #countSingle(shard: number, rows: number): void {
    const left = (this.#single.get(shard) ?? 0) - rows;
    if (left > 0) this.#single.set(shard, left);
    else this.#single.delete(shard);
  }

  #restFull(rows: readonly Row[], results: readonly Result[]): void {
    const [row] = rows;
    if (row === undefined) return;
    const isFull = results.some((one) => one.kind === "later" && one.newest === undefined);
    if (isFull) this.#fullUntil.set(row.queue, performance.now() + RETRY_MS);
    else this.#fullUntil.delete(row.queue);
  }
}
