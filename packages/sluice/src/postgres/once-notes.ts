/** Deletes the notes of `job.once` whose run is over, as the broker says when that is durable. */
import { type Broker, type JobLife, SluiceError } from "@sluice/protocol";
import type { Client } from "pg";
import { NOTES_MAX, NOTES_MS } from "./limits.ts";

interface Note {
  readonly log: string;
  readonly job: string;
  readonly generation: number;
}

/**
 * Notes are looked at in the order of their key, a page at a time, so that some that stay (of jobs
 * that are at work, or of another log) are not in the way of the others.
 */
export class OnceNotes {
  readonly #broker: Pick<Broker, "lives">;
  #after: Note = { log: "", job: "", generation: 0 };
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(broker: Pick<Broker, "lives">) {
    this.#broker = broker;
  }

  get isDue(): boolean {
    return performance.now() - this.#lookedAt >= NOTES_MS;
  }

  /** Looks at the next page and deletes what is over. */
  async sweep(client: Client): Promise<void> {
    this.#lookedAt = performance.now();
    const notes = await this.#next(client);
    if (notes.length === 0) return;
    const lives = await this.#broker.lives(notes.map(({ job }) => job));
    const over = notes.filter((note, i) => isOver(note, lives[i]!.ok));
    await remove(client, over);
    // A full page that was all deleted: there may be many more.
    if (over.length === NOTES_MAX) this.#lookedAt = Number.NEGATIVE_INFINITY;
  }

  async #next(client: Client): Promise<Note[]> {
    const { log, job, generation } = this.#after;
    const { rows } = await client.query<Note>(
      `SELECT log, job, generation FROM sluice.once WHERE (log, job, generation) > ($1, $2, $3)
        ORDER BY log, job, generation LIMIT ${NOTES_MAX}`,
      [log, job, generation],
    );
    this.#after =
      rows.length < NOTES_MAX ? { log: "", job: "", generation: 0 } : rows[rows.length - 1]!;
    return rows;
  }
}

/** A job that the broker does not know is one of another log. */
function isOver({ log, generation }: Note, life: JobLife | undefined): boolean {
  if (life === undefined || life.log !== log) return false;
  return life.isEnded || (life.generation ?? 0) > generation;
}

async function remove(client: Client, notes: readonly Note[]): Promise<void> {
  if (notes.length === 0) return;
  await client.query(
    `DELETE FROM sluice.once o USING jsonb_to_recordset($1)
      AS n (log text, job text, generation integer)
      WHERE o.log = n.log AND o.job = n.job AND o.generation = n.generation`,
    [JSON.stringify(notes)],
  );
}

/** Refuses tables of another release, and a database without them, with what to do. */
export async function checkOutbox(client: Client, version: number): Promise<void> {
  const found = await versionOf(client);
  if (found === version) return;
  const what = `the outbox in this database has version ${found}, and this release needs ${version}`;
  const todo = found < version ? "run `sluice postgres install`" : "use a newer release of Sluice";
  throw new SluiceError("LOG_VERSION", `${what}: ${todo}`, { version: found, needs: version });
}

const MISSING = new Set(["42P01", "3F000"]);

async function versionOf(client: Client): Promise<number> {
  const text = "SELECT version FROM sluice.versions WHERE part = 'outbox'";
  const answer = await client.query<{ version: number }>(text).catch((error) => {
    if (MISSING.has(error.code)) return { rows: [] };
    throw error;
  });
  const [row] = answer.rows;
  if (row !== undefined) return row.version;
  const message = "this database has no outbox: run `sluice postgres install`";
  throw new SluiceError("NOT_FOUND", message);
}
