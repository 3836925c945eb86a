/** Adds in a user's own transaction, with the drivers that people have. */
import {
  notTransaction,
  type Run,
  runnerOf,
  type Transaction,
  toInstallError,
} from "@sluice/client";
import { invalid, type JobOptions, readJob, SluiceError, tellOptions } from "@sluice/protocol";

/** An add that becomes a job when its transaction commits. */
export interface OutboxJob {
  /** For `jobOf`, once a relay has moved it. */
  readonly outboxId: string;
}

const FIELD = "in.tx";

const ADD = "SELECT sluice.add_bytes($1, $2, $3::text::jsonb) AS id";

/** What `sluice.in(tx)` answers. */
export class Outbox {
  readonly #tx: Transaction;
  readonly #run: Run;

  constructor(tx: Transaction) {
    this.#tx = tx;
    this.#run = runnerOf(FIELD, tx);
  }

  /** Adds a job within the transaction: it exists if the transaction commits, and only then. */
  async add<Payload = unknown>(
    queue: string,
    payload: Payload,
    options: JobOptions = {},
  ): Promise<OutboxJob> {
    // Refuses what can be seen here, with the field; the function in the database does the rest.
    const job = {};
    readJob(job, options);
    // As JSON: a Date as a number, the handle of a job as its id.
    const told = JSON.stringify(tellOptions(job));
    try {
      const [row] = await this.#run(ADD, [queue, bytesOf(payload), told]);
      if (row === undefined) throw notTransaction(FIELD, this.#tx);
      return { outboxId: String((row as { id: unknown }).id) };
    } catch (error) {
      throw toOutboxError(error);
    }
  }

  /** The job that a row of the outbox became; undefined while no relay has moved it. */
  async jobOf(outboxId: string): Promise<string | undefined> {
    const text = "SELECT job FROM sluice.outbox_moved WHERE id = $1";
    const rows = await this.#run(text, [outboxId]);
    return (rows[0] as { job: string } | undefined)?.job;
  }
}

function bytesOf(payload: unknown): Buffer {
  if (payload instanceof Uint8Array) return Buffer.from(payload);
  const text = JSON.stringify(payload);
  if (text === undefined) throw invalid("payload", "a value that JSON can represent", payload);
  return Buffer.from(text);
}

const INVALID_PARAMETER = "22023";
/** A zero character, and half of a surrogate pair. */
const NOT_STORED = new Set(["22P05", "22P02"]);

/** Drizzle wraps what the database says. */
function toOutboxError(error: unknown): unknown {
  if (error instanceof SluiceError) return error;
  const { cause = error } = error as { cause?: unknown };
  const { code = "", message = "" } = cause as { code?: string; message?: string };
  if (NOT_STORED.has(code)) {
    const text =
      "options must have no text with a zero or half a surrogate pair: PostgreSQL cannot store it";
    return new SluiceError("INVALID", text, { field: "options" }, { cause: error });
  }
  if (code === INVALID_PARAMETER) return new SluiceError("INVALID", message, {}, { cause: error });
  return toInstallError(error);
}
