/**
 * The effect of a job in a user's own transaction, once for each run of the job, however often it
 * is delivered. A note in the same transaction says that it is done; its key is the identity of the
 * log, the job and its generation. The order of the steps is what makes it safe:
 *
 *   0  a lock that only a transaction can take, and that is in the way of nothing. Without one the
 *      note would commit alone, and after a crash the work would never be done
 *   1  the note is inserted. Another holder of the job that is at work waits here until that one
 *      has committed or rolled back
 *   2  the lease is extended. A holder that has lost the job stops here: the job may have ended,
 *      and its note may be deleted already, so the note alone would not stop a late holder
 *   3  the work is done, and commits with the note
 *
 * A relay deletes the note when the broker has confirmed that the run is over.
 */
import { type JobLife, SluiceError } from "@sluice/protocol";
import { type Run, runnerOf, type Transaction } from "./transaction.ts";

/** What is needed from the part that keeps the lease of the job. */
export interface OnceLease {
  readonly id: string;
  life(): Promise<JobLife>;
  /** Rejects when the lease is lost. */
  prove(): Promise<void>;
}

const IN_TRANSACTION = "LOCK TABLE sluice.once IN ACCESS SHARE MODE";

const NOTE = `INSERT INTO sluice.once (log, job, generation) VALUES ($1, $2, $3)
  ON CONFLICT DO NOTHING RETURNING 1 AS noted`;

/** Answers what `act` answers; undefined when an earlier delivery has committed it. */
export async function runOnce<T>(
  lease: OnceLease,
  tx: Transaction,
  act: () => T | Promise<T>,
): Promise<Awaited<T> | undefined> {
  const run = runnerOf("once.tx", tx);
  const [{ log, generation }] = await Promise.all([lease.life(), checkTransaction(run)]);
  if (generation === undefined) {
    throw new SluiceError("LEASE_LOST", `job ${lease.id} has ended`, { id: lease.id });
  }
  const rows = await run(NOTE, [log, lease.id, generation]).catch((error) => {
    throw toInstallError(error);
  });
  if (rows.length === 0) return undefined;
  await lease.prove();
  return await act();
}

async function checkTransaction(run: Run): Promise<void> {
  await run(IN_TRANSACTION, []).catch((error) => {
    const { cause = error } = error as { cause?: { code?: string } };
    if (cause?.code !== NO_TRANSACTION) throw toInstallError(error);
    const message = "once.tx must be a transaction, got a client or a pool outside of one";
    throw new SluiceError("INVALID", message, { field: "once.tx" }, { cause: error });
  });
}

const NO_TRANSACTION = "25P01";
const UNDEFINED = new Set(["42883", "3F000", "42P01"]);
const LACKS_RIGHTS = "42501";

/** Says what to do where tables or rights are missing. Drizzle wraps what the database says. */
export function toInstallError(error: unknown): unknown {
  const { cause = error } = error as { cause?: unknown };
  const { code = "" } = cause as { code?: string };
  if (UNDEFINED.has(code)) {
    const missing =
      "this database has no outbox, or one of an older release: run `sluice postgres install --postgres URL`";
    return new SluiceError("NOT_FOUND", missing, {}, { cause: error });
  }
  if (code !== LACKS_RIGHTS) return error;
  const rights =
    "this user lacks rights in the schema sluice: grant USAGE on it, SELECT and INSERT on outbox and once, and SELECT on outbox_shards and outbox_moved";
  return new SluiceError("FORBIDDEN", rights, {}, { cause: error });
}
