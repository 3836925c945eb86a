/** The connections of a node or a command to the database of a cluster. */
import { withoutLogin } from "@sluice/log/postgres";
import { SluiceError, SystemClock } from "@sluice/protocol";
import { NATS_MS_MAX } from "../limits.ts";
import type { Waiting } from "../waiting.ts";
import { keepTrying } from "../within.ts";
import { Notices, Statements } from "./notices.ts";
import { PostgresRegistry } from "./postgres-registry.ts";
import { checkRegistryTables, createRegistryTables } from "./schema.ts";

export interface ReachedPostgres {
  readonly url: string;
  readonly statements: Statements;
  readonly notices: Notices;
  readonly registry: PostgresRegistry;
  close(): Promise<void>;
}

/** Waits for a database that starts at the same time. */
export async function reachPostgres(
  url: string,
  cluster: string,
  create: boolean,
  { stop, say }: Waiting,
): Promise<ReachedPostgres> {
  const options = { url, name: cluster };
  const [statements, notices] = [new Statements(options, "registry"), new Notices(options)];
  const registry = new PostgresRegistry(statements, notices, cluster);
  const close = async (): Promise<void> => {
    await registry.close();
    await Promise.all([statements.close(), notices.close()]);
  };
  let said: string | undefined;
  try {
    await keepTrying(new SystemClock(), NATS_MS_MAX, async () => {
      if (stop.aborted) throw new SluiceError("ABORTED", "stopped before PostgreSQL answered");
      try {
        await statements.run(create ? createRegistryTables : checkRegistryTables);
      } catch (error) {
        const { message, isRetryable } = error as SluiceError;
        if (isRetryable && message !== said) say(`waiting for PostgreSQL: ${message}\n`);
        said = message;
        throw error;
      }
    });
    return { url, statements, notices, registry, close };
  } catch (error) {
    await close();
    throw error;
  }
}

export function shownDatabase(url: string): string {
  return String(withoutLogin(url));
}
