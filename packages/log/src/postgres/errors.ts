import { SluiceError } from "@sluice/protocol";

/** Why PostgreSQL refused something that may be possible later. */
const PASSING: Readonly<Record<string, string>> = {
  "25006": "the database is read-only, perhaps a standby after a failover",
  "25P03": "the database ended a transaction that idled (idle_in_transaction_session_timeout)",
  "25P04": "the database ended a transaction that took too long (transaction_timeout)",
  "53100": "the disk of the database is full",
  "53200": "the database is out of memory",
  "53300": "the database has no connections left: raise max_connections, or use fewer clients",
  "55P03": "a lock was not free in time (lock_timeout): another session holds the table",
  "57014": "the database ended a statement that took too long (statement_timeout), or a person did",
  "57P01": "the database is shutting down",
  "57P02": "the database has crashed and restarts",
  "57P03": "the database is starting up",
  "57P05": "the database ended a session that idled (idle_session_timeout)",
  ECONNREFUSED: "no PostgreSQL server accepts connections at this address",
  ECONNRESET: "the connection was reset",
  EPIPE: "the connection was reset",
  ETIMEDOUT: "the server did not answer in time",
  EHOSTUNREACH: "the server's host cannot be reached",
  ENETUNREACH: "the server's network cannot be reached",
  EAI_AGAIN: "the server's name cannot be looked up at the moment",
};

/** Why it refused something that stays refused until a person acts. */
const LASTING: Readonly<Record<string, string>> = {
  "28000": "this user may not log in; see pg_hba.conf",
  "28P01": "the password is wrong for this user",
  "3D000": "the database does not exist; create it first",
  "42501": "this user lacks rights; grant CREATE on the database, or ask its owner to install",
  "42P01": "a table of the schema sluice is missing; run `sluice postgres install`",
  "3F000": "the schema sluice is missing; run `sluice postgres install`",
  ENOTFOUND: "the server's name is unknown",
};

/** What `pg` says itself has no code. */
const WITHOUT_CODE: readonly (readonly [RegExp, string])[] = [
  [/timeout/i, PASSING.ETIMEDOUT!],
  [
    /terminated|Connection ended|not queryable|closed the connection/i,
    "the server ended the connection",
  ],
];

function withoutCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return WITHOUT_CODE.find(([said]) => said.test(error.message))?.[1];
}

function codeOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "string" ? code : undefined;
}

/** Nothing is wrong with what was asked: the same may succeed a moment later. */
export function isPassing(error: unknown): boolean {
  if (error instanceof SluiceError) return false;
  const code = codeOf(error);
  if (code !== undefined) return code in PASSING || /^(08|40)/.test(code);
  return withoutCode(error) !== undefined;
}

/** In words for the operator. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error);
  const known = code === undefined ? withoutCode(error) : (PASSING[code] ?? LASTING[code]);
  const text = error instanceof Error ? error.message : String(error);
  return known ?? (code === undefined ? text : `${text} (${code})`);
}

export function logFailed(
  log: string,
  doing: string,
  reason: string,
  cause?: unknown,
): SluiceError {
  const message = `${doing} failed in the PostgreSQL log ${log}: ${reason}`;
  return new SluiceError("LOG_FAILED", message, { log, reason }, { cause });
}

export function toLogError(log: string, doing: string, error: unknown): SluiceError {
  if (error instanceof SluiceError) return error;
  return logFailed(log, doing, reasonOf(error), error);
}
