/** Moves committed rows of the outbox to a broker, each exactly once. */
import type { Socket } from "node:net";
import { postgresReason, WITHOUT_LIMITS } from "@sluice/log/postgres";
import { type Broker, SluiceError } from "@sluice/protocol";
import type { Client } from "pg";
import { nextWork, setAsleep, sourceOf } from "./batches.ts";
import {
  ANSWER_MS,
  POLL_MS,
  RETRY_MS,
  RETRY_MS_MAX,
  SLEEP_AFTER_MS,
  SLEEP_POLL_MS,
} from "./limits.ts";
import { checkOutbox, OnceNotes } from "./once-notes.ts";
import { CHANNEL, OUTBOX_VERSION } from "./schema.ts";
import { ShardLocks } from "./shard-locks.ts";
import { ShardMoves } from "./shard-moves.ts";

export interface RelayOptions {
  /** `postgres://user:password@host:port/database`, where the outbox is. */
  readonly url: string;
  readonly broker: Pick<Broker, "add" | "lives">;
  /** Why nothing moves at the moment, in a sentence; said once for each reason. */
  readonly onTrouble?: (reason: string) => void;
}

/**
 * The relay numbers each batch in the database before it sends it, and the broker commits the
 * number with the batch's jobs. A batch whose answer was lost is sent again under its number,
 * minutes or days later, and the broker answers what it answered first. Only then are its rows
 * deleted, so a row that commits late is never passed over.
 *
 *   moving     there are rows: batch after batch, all shards side by side
 *   polling    there are none: it looks every few milliseconds
 *   asleep     nothing was moved for a while: adds wake it, and it looks now and then
 *   troubled   the database does not answer: it connects again, later each time. A broker that does
 *              not take a batch holds up the shard of that batch alone
 */
export class OutboxRelay {
  readonly #options: RelayOptions;
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;
  #isWoken = false;
  #endSleep: () => void = () => {};
  #lastTrouble = "";

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#done = this.#run();
  }

  /** Ends after the batches that are on their way. */
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
        });
      } catch (error) {
        this.#tell(error);
      }
      this.#isWoken = this.#isStopped;
      await this.#sleep(pauseMs);
    }
  }

  /** As long as one connection lasts. */
  async #life(onMoved: () => void): Promise<void> {
    const { default: pg } = await import("pg");
    const client = new pg.Client({
      connectionString: this.#options.url,
      application_name: "sluice relay",
      keepAlive: true,
      connectionTimeoutMillis: ANSWER_MS,
      // The shards share the connection, and none waits for the answers to the others.
      pipeline: true,
    } as ConstructorParameters<typeof pg.Client>[0]);
    const over = new AbortController();
    const end = (error: unknown): void => {
      over.abort(error);
      this.#wake();
    };
    client.on("error", end);
    client.on("notification", () => this.#wake());
    try {
      await client.connect();
      // Also while it sleeps it asks twice a second.
      const stream = client.connection.stream as Socket;
      stream.setTimeout(ANSWER_MS, () => stream.destroy(new Error("timeout")));
      await client.query(WITHOUT_LIMITS);
      await client.query(WAIT_FOR_DISK);
      // Else users' transactions that are serializable too could end those of the relay.
      await client.query("SET default_transaction_isolation = 'read committed'");
      await checkOutbox(client, OUTBOX_VERSION);
      await client.query(`LISTEN ${CHANNEL}`);
      await this.#work(client, over, onMoved);
    } finally {
      await client.end().catch(() => {});
    }
    if (over.signal.aborted) throw over.signal.reason;
  }

  async #work(client: Client, over: AbortController, onMoved: () => void): Promise<void> {
    const { broker } = this.#options;
    const source = await sourceOf(client);
    let movedAt = performance.now();
    const moves = new ShardMoves({
      ...{ client, broker },
      signal: AbortSignal.any([this.#stop.signal, over.signal]),
      onMoved: () => {
        movedAt = performance.now();
        onMoved();
        if (!moves.isTroubled) this.#lastTrouble = "";
      },
      onTrouble: (error) => {
        // Whatever is wrong with the database, another connection may be to another server.
        if (error instanceof SluiceError) this.#tell(error);
        else over.abort(error);
      },
      onDone: () => this.#wake(),
    });
    const notes = new OnceNotes(broker);
    const locks = new ShardLocks(client);
    let isAsleep = false;
    try {
      while (!this.#isStopped && !over.signal.aborted) {
        const shards = await locks.take(moves.busy);
        if (notes.isDue && shards.includes(NOTES_SHARD))
          moves.run(NOTES, () => notes.sweep(client));
        // Before it looks: an add that saw it awake may have committed since.
        if (isAsleep) await setAsleep(client, shards, true);
        for (const work of await nextWork(client, source, moves.next(shards))) moves.move(work);
        const idles = performance.now() - movedAt >= SLEEP_AFTER_MS;
        if (isAsleep && !idles) await setAsleep(client, shards, false);
        const isNew = idles && !isAsleep;
        isAsleep = idles;
        if (!isNew) await this.#sleep(isAsleep ? SLEEP_POLL_MS : POLL_MS);
      }
    } catch (error) {
      over.abort(error);
    }
    // What it has not answered is uncertain: it is sent again.
    if (over.signal.aborted) client.connection.stream.destroy();
    await moves.ended();
    if (!over.signal.aborted) await locks.release();
  }

  get #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  #tell(error: unknown): void {
    if (this.#isStopped) return;
    const reason = reasonOf(error);
    if (reason === this.#lastTrouble) return;
    this.#lastTrouble = reason;
    this.#options.onTrouble?.(`the outbox of PostgreSQL is not moved: ${reason}`);
  }

  /** Until then, or until it is woken; that may have been before. */
  async #sleep(ms: number): Promise<void> {
    if (!this.#isWoken) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, ms);
      this.#endSleep = resolve;
      await promise;
      clearTimeout(timer);
    }
    this.#isWoken = false;
  }

  #wake(): void {
    this.#isWoken = true;
    this.#endSleep();
  }
}

/**
 * A number must outlive a crash: without this a database whose commits do not wait for the disk
 * gave it to other rows after the crash, and the first ones were added again.
 */
const WAIT_FOR_DISK = `SELECT set_config('synchronous_commit', 'on', false)
  WHERE current_setting('synchronous_commit') <> 'remote_apply'`;

/** The relay that moves this shard also deletes notes. */
const NOTES_SHARD = 0;
/** Its name beside the shards. */
const NOTES = -1;

function reasonOf(error: unknown): string {
  return error instanceof SluiceError ? error.message : postgresReason(error);
}
