/** Moves committed rows of the outbox to a broker, each exactly once. */
import { type Broker, type NewJob, PreparedJob, readJob, SluiceError } from "@sluice/protocol";
import type { Client } from "pg";
import {
  BATCH_BYTES_MAX,
  BATCH_ROWS_MAX,
  KEPT_HOURS,
  POLL_MS,
  RETRY_MS,
  RETRY_MS_MAX,
  SLEEP_AFTER_MS,
  SLEEP_POLL_MS,
} from "./limits.ts";
import { checkOutbox, OnceNotes } from "./once-notes.ts";
import { CHANNEL, OUTBOX_VERSION } from "./schema.ts";
import { ShardLocks } from "./shard-locks.ts";

export interface RelayOptions {
  /** `postgres://user:password@host:port/database`, where the outbox is. */
  readonly url: string;
  readonly broker: Pick<Broker, "add" | "lives">;
  /** Why nothing moves at the moment, in a sentence; said once for each reason. */
  readonly onTrouble?: (reason: string) => void;
}

interface Row {
  readonly id: string;
  readonly queue: string;
  readonly payload: Buffer;
  readonly options: object;
}

/**
 * The relay numbers each batch in the database before it sends it, and the broker commits the
 * number with the batch's jobs. A batch whose answer was lost is sent again under its number,
 * minutes or days later, and the broker answers what it answered first. Only then are its rows
 * deleted, so a row that commits late is never passed over.
 *
 *   moving     there are rows: batch after batch, the shards in turns
 *   polling    there are none: it looks every few milliseconds
 *   asleep     nothing came for a while: adds wake it, and it looks now and then
 *   troubled   the database or the broker does not answer: it tries again, later each time
 */
export class OutboxRelay {
  readonly #options: RelayOptions;
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;
  #wake: () => void = () => {};
  #lastTrouble = "";
  /** Queues that are full: their rows are left alone until then. */
  readonly #restingUntil = new Map<string, number>();

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#done = this.#run();
  }

  /** Ends after the batch that is on its way. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#wake();
    await this.#done;
  }

  async #run(): Promise<void> {
    for (let pauseMs = RETRY_MS; !this.#isStopped; pauseMs = Math.min(2 * pauseMs, RETRY_MS_MAX)) {
      try {
        await this.#life(() => {
          pauseMs = RETRY_MS;
          this.#lastTrouble = "";
        });
      } catch (error) {
        this.#tell(error);
      }
      if (!this.#isStopped) await this.#sleep(pauseMs);
    }
  }

  /** As long as one connection lasts. */
  async #life(onMoved: () => void): Promise<void> {
    const { default: pg } = await import("pg");
    const client = new pg.Client({
      connectionString: this.#options.url,
      application_name: "sluice relay",
      keepAlive: true,
    });
    let lost: Error | undefined;
    client.on("error", (error) => {
      lost = error;
      this.#wake();
    });
    client.on("notification", () => this.#wake());
    try {
      await client.connect();
      await checkOutbox(client, OUTBOX_VERSION);
      await client.query(`LISTEN ${CHANNEL}`);
      const notes = new OnceNotes(this.#options.broker);
      const locks = new ShardLocks(client);
      let idleSince = performance.now();
      while (!this.#isStopped && lost === undefined) {
        const shards = await locks.take();
        if (shards.includes(NOTES_SHARD)) await notes.sweep(client);
        if (await this.#moveAll(client, shards)) {
          idleSince = performance.now();
          onMoved();
        } else await this.#wait(client, shards, performance.now() - idleSince);
      }
      await locks.release();
    } finally {
      await client.end().catch(() => {});
    }
    if (lost !== undefined) throw lost;
  }

  async #wait(client: Client, shards: readonly number[], idleMs: number): Promise<void> {
    if (idleMs < SLEEP_AFTER_MS) return this.#sleep(POLL_MS);
    await setAsleep(client, shards, true);
    // An add that saw it awake may have committed since.
    if (!(await this.#moveAll(client, shards))) await this.#sleep(SLEEP_POLL_MS);
    await setAsleep(client, shards, false);
  }

  /** One batch of each shard that has rows; answers whether there was one. */
  async #moveAll(client: Client, shards: readonly number[]): Promise<boolean> {
    const text = `SELECT s.shard FROM sluice.outbox_shards s WHERE s.shard = ANY($1) AND
      (s.batch <> '{}' OR EXISTS
        (SELECT FROM sluice.outbox o WHERE o.shard = s.shard AND o.error IS NULL))`;
    const { rows } = await client.query(text, [shards]);
    let hasMoved = false;
    for (const { shard } of rows) {
      if (this.#isStopped) break;
      if (await this.#move(client, shard)) hasMoved = true;
    }
    return hasMoved;
  }

  async #move(client: Client, shard: number): Promise<boolean> {
    const batch = await this.#numbered(client, shard);
    if (batch === undefined) return false;
    const { rows, operationId } = batch;
    let results: Result[];
    try {
      results = await this.#send(rows, operationId);
    } catch (error) {
      const { code, details } = error as Partial<SluiceError>;
      if (code !== "CONFLICT" || typeof details?.newest !== "number") throw error;
      // The database is older than the broker: it was restored. Its rows get numbers of today.
      await skipTo(client, shard, details.newest);
      return true;
    }
    await settle(client, shard, rows, results);
    this.#restFull(rows, results);
    return results.some((result) => result.kind !== "later");
  }

  /** The batch that is on its way, or a new one with the next number. */
  async #numbered(client: Client, shard: number): Promise<Batch | undefined> {
    const found = await client.query(
      `SELECT s.number, s.batch, (SELECT name FROM sluice.outbox_source) AS source
        FROM sluice.outbox_shards s WHERE s.shard = $1`,
      [shard],
    );
    const { number, batch, source } = found.rows[0];
    const idOf = (n: bigint): string => `numbered:${source}.${shard}:${n}`;
    if (batch.length > 0)
      return { rows: await rowsOf(client, batch), operationId: idOf(BigInt(number)) };
    const picked = await pick(client, shard, this.#resting());
    if (picked.length === 0) return undefined;
    const next = BigInt(number) + 1n;
    const { rowCount } = await client.query(
      "UPDATE sluice.outbox_shards SET number = $2, batch = $3 WHERE shard = $1 AND number = $4",
      [shard, String(next), picked.map(({ id }) => id), number],
    );
    if (rowCount !== 1) throw new Error(`another relay has shard ${shard}`);
    return { rows: picked, operationId: idOf(next) };
  }

  async #send(rows: readonly Row[], operationId: string): Promise<Result[]> {
    const prepared = rows.map(prepare);
    const jobs = prepared.filter((job) => job instanceof PreparedJob);
    let outcomes: Iterator<Result>;
    try {
      const answers = jobs.length === 0 ? [] : await this.#add(rows[0]!.queue, jobs, operationId);
      outcomes = answers.values();
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const refused: Result = { kind: "refused", error: error.toJSON() };
      outcomes = jobs.map(() => refused).values();
    }
    return prepared.map((job) => {
      if (job instanceof SluiceError) return { kind: "refused", error: job.toJSON() };
      return outcomes.next().value;
    });
  }

  async #add(queue: string, jobs: readonly NewJob[], operationId: string): Promise<Result[]> {
    const signal = this.#stop.signal;
    const answers = await this.#options.broker.add(queue, jobs, { operationId, signal });
    return answers.map(({ ok, error }): Result => {
      if (ok !== undefined) return { kind: "moved", job: ok.id };
      return SluiceError.fromJSON(error!).isRetryable
        ? { kind: "later" }
        : { kind: "refused", error: error! };
    });
  }

  #restFull(rows: readonly Row[], results: readonly Result[]): void {
    const { queue } = rows[0]!;
    if (results.some(({ kind }) => kind === "later")) {
      this.#restingUntil.set(queue, performance.now() + RETRY_MS);
    } else this.#restingUntil.delete(queue);
  }

  #resting(): string[] {
    const now = performance.now();
    return [...this.#restingUntil].filter(([, until]) => until > now).map(([queue]) => queue);
  }

  get #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  #tell(error: unknown): void {
    if (this.#isStopped) return;
    const reason = error instanceof Error ? error.message : String(error);
    if (reason === this.#lastTrouble) return;
    this.#lastTrouble = reason;
    this.#options.onTrouble?.(`the outbox of PostgreSQL is not moved: ${reason}`);
  }

  async #sleep(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = () => {};
  }
}

/** The relay that moves this shard also deletes notes. */
const NOTES_SHARD = 0;

interface Batch {
  readonly rows: readonly Row[];
  readonly operationId: string;
}

type Result =
  | { readonly kind: "moved"; readonly job: string }
  | { readonly kind: "refused"; readonly error: object }
  | { readonly kind: "later" };

/** What the broker refuses whatever is sent: no such queue, no right to it. */
function isRefusal(error: unknown): error is SluiceError {
  if (!(error instanceof SluiceError) || error.isRetryable) return false;
  return ["QUEUE_NOT_FOUND", "FORBIDDEN", "INVALID"].includes(error.code);
}

function prepare({ payload, options }: Row): PreparedJob | SluiceError {
  const job = new PreparedJob();
  try {
    readJob(job, options);
  } catch (error) {
    if (error instanceof SluiceError) return error;
    throw error;
  }
  job.payload = payload;
  return job;
}

const COLUMNS = "id, queue, payload, options";

async function rowsOf(client: Client, ids: readonly string[]): Promise<Row[]> {
  const text = `SELECT ${COLUMNS} FROM sluice.outbox WHERE id = ANY($1) ORDER BY id`;
  return (await client.query(text, [ids])).rows;
}

/** Rows of one queue, the oldest first: as many as a batch takes. */
async function pick(client: Client, shard: number, resting: readonly string[]): Promise<Row[]> {
  const waiting = "shard = $1 AND error IS NULL AND queue <> ALL($2)";
  const text = `SELECT ${COLUMNS} FROM sluice.outbox WHERE ${waiting} AND queue =
      (SELECT queue FROM sluice.outbox WHERE ${waiting} ORDER BY id LIMIT 1)
    ORDER BY id LIMIT ${BATCH_ROWS_MAX}`;
  const rows: Row[] = (await client.query(text, [shard, resting])).rows;
  let count = 0;
  for (let bytes = 0; count < rows.length; count++) {
    bytes += rows[count]!.payload.length;
    if (bytes > BATCH_BYTES_MAX && count > 0) break;
  }
  return rows.slice(0, count);
}

/** Ends a batch: what was moved is deleted, what was refused keeps its error, the rest waits. */
async function settle(
  client: Client,
  shard: number,
  rows: readonly Row[],
  results: readonly Result[],
): Promise<void> {
  const moved = rows.flatMap(({ id }, i) => {
    const result = results[i]!;
    return result.kind === "moved" ? [{ id, job: result.job }] : [];
  });
  const refused = rows.flatMap(({ id }, i) => {
    const result = results[i]!;
    return result.kind === "refused" ? [{ id, error: result.error }] : [];
  });
  await client.query(
    `WITH moved AS (SELECT * FROM jsonb_to_recordset($2) AS m (id bigint, job text)),
      deleted AS (DELETE FROM sluice.outbox o USING moved m WHERE o.id = m.id),
      kept AS (INSERT INTO sluice.outbox_moved (id, job) SELECT id, job FROM moved
        ON CONFLICT DO NOTHING),
      old AS (DELETE FROM sluice.outbox_moved WHERE id IN
        (SELECT id FROM sluice.outbox_moved WHERE moved_at < now() - interval '${KEPT_HOURS} hours'
          ORDER BY moved_at LIMIT ${2 * BATCH_ROWS_MAX})),
      refused AS (UPDATE sluice.outbox o SET error = r.error
        FROM jsonb_to_recordset($3) AS r (id bigint, error jsonb) WHERE o.id = r.id)
    UPDATE sluice.outbox_shards SET batch = '{}' WHERE shard = $1`,
    [shard, JSON.stringify(moved), JSON.stringify(refused)],
  );
}

async function skipTo(client: Client, shard: number, number: number): Promise<void> {
  const text = "UPDATE sluice.outbox_shards SET number = $2, batch = '{}' WHERE shard = $1";
  await client.query(text, [shard, number]);
}

async function setAsleep(
  client: Client,
  shards: readonly number[],
  asleep: boolean,
): Promise<void> {
  const text = "UPDATE sluice.outbox_shards SET asleep = $2 WHERE shard = ANY($1)";
  await client.query(text, [shards, asleep]);
}
