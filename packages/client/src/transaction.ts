/** One statement in a user's own transaction of PostgreSQL, with the drivers that people have. */
import { SluiceError, shown } from "@sluice/protocol";

/** A client of `pg` within a transaction. */
interface PgTransaction {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[] }>;
}

/** The `sql` that `postgres` passes to the function of `sql.begin`. */
interface PostgresTransaction {
  // biome-ignore lint/suspicious/noExplicitAny: its own type names its parameters' types.
  unsafe(text: string, values: any[]): PromiseLike<readonly unknown[]>;
}

/** The transaction of Kysely. */
interface KyselyTransaction {
  executeQuery(query: object): Promise<{ rows: readonly unknown[] }>;
}

/** The transaction of Drizzle, over `pg` or `postgres`. */
interface DrizzleTransaction {
  execute(query: unknown): Promise<{ rows: readonly unknown[] } | readonly unknown[]>;
}

export type Transaction =
  | PgTransaction
  | PostgresTransaction
  | KyselyTransaction
  | DrizzleTransaction;

export type Run = (text: string, values: unknown[]) => Promise<readonly unknown[]>;

/** Runs statements with parameters `$1`, `$2` in their order; answers the rows. */
export function runnerOf(field: string, tx: Transaction): Run {
  const run = runOf(tx);
  if (run === undefined) throw notTransaction(field, tx);
  return async (text, values) => {
    const rows = await run(text, values);
    // Other drivers have functions of these names too.
    if (!Array.isArray(rows)) throw notTransaction(field, tx);
    return rows;
  };
}

function runOf(tx: Transaction): ((text: string, values: unknown[]) => unknown) | undefined {
  if (has(tx, "executeQuery")) return (text, values) => runKysely(tx, text, values);
  if (has(tx, "unsafe")) return (text, values) => tx.unsafe(text, values);
  if (has(tx, "execute")) return (text, values) => runDrizzle(tx, text, values);
  if (has(tx, "query")) return async (text, values) => (await tx.query(text, values))?.rows;
  return undefined;
}

/** Names what was given in place of a transaction. */
export function notTransaction(field: string, value: unknown): SluiceError {
  const name = nameOf(value);
  const message = `${field} must be a transaction of pg, postgres, Drizzle or Kysely, got ${name}`;
  return new SluiceError("INVALID", message, { field });
}

function nameOf(value: unknown): string {
  const isThing = typeof value === "object" && !Array.isArray(value);
  const name = isThing ? value?.constructor?.name : undefined;
  return name === undefined || name === "Object" ? shown(value) : `an object of class ${name}`;
}

function has<K extends string>(
  tx: unknown,
  name: K,
): tx is Extract<Transaction, Record<K, unknown>> {
  const isThing = (typeof tx === "object" || typeof tx === "function") && tx !== null;
  return isThing && typeof (tx as Record<string, unknown>)[name] === "function";
}

async function runKysely(tx: KyselyTransaction, sql: string, parameters: unknown[]) {
  const query = { kind: "RawNode", sqlFragments: [sql], parameters: [] };
  const queryId = { queryId: crypto.randomUUID() };
  return (await tx.executeQuery({ query, queryId, sql, parameters }))?.rows;
}

/** Not a literal where it is imported: bundlers for pages would look for the package. */
const DRIZZLE: string = "drizzle-orm";

async function runDrizzle(tx: DrizzleTransaction, text: string, values: unknown[]) {
  const drizzle = await (import(DRIZZLE) as Promise<typeof import("drizzle-orm")>).catch(() => {});
  // Without the package it is none of Drizzle's.
  if (drizzle === undefined) return undefined;
  const { sql } = drizzle;
  // Drizzle numbers the parameters itself, in the order in which they come.
  const parts = text.split(/\$\d+/).map((part) => sql.raw(part));
  const chunks = parts.flatMap((part, i) =>
    i < values.length ? [part, sql.param(values[i])] : part,
  );
  const answer: unknown = await tx.execute(sql.join(chunks));
  return (answer as { rows?: unknown } | undefined)?.rows ?? answer;
}
