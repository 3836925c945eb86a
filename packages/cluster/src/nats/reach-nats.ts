import { checkNatsVersion, connectNats, lastingFault, type NatsAccess } from "@sluice/log/nats";
import { SluiceError, SystemClock } from "@sluice/protocol";
import { NATS_MS_MAX } from "../limits.ts";
import { NatsRegistry, type NatsRegistryOptions } from "../registry/nats-registry.ts";
import type { Waiting } from "../waiting.ts";
import { keepTrying } from "../within.ts";
import { checkPermissions } from "./check-permissions.ts";

export type Nats = Awaited<ReturnType<typeof connectNats>>;

/** Where NATS is, and what it is shown. */
export interface NatsServers {
  readonly servers: readonly string[];
  readonly access?: NatsAccess | undefined;
  /** The address in messages, without a login. Default: the servers. */
  readonly shown?: string | undefined;
  /** Servers that did not pass the fault suite are taken too. */
  readonly allowUntested?: boolean | undefined;
}

export interface ReachedNats {
  readonly connection: Nats;
  readonly registry: NatsRegistry;
}

export function shownAddress({ servers, shown }: NatsServers): string {
  return shown ?? servers.join(",");
}

/** How the registry is opened: that of a cluster that is there, or a new one. */
export type RegistryAsked = Pick<NatsRegistryOptions, "bucket" | "create" | "replicas" | "readMs">;

/** Connects and opens the registry, and waits for servers that start at the same time. */
export async function reachNats(
  nats: NatsServers,
  asked: RegistryAsked,
  waiting: Waiting,
): Promise<ReachedNats> {
  const shown = shownAddress(nats);
  const connection = await patiently(waiting, shown, () => connectNats(nats.servers, nats.access));
  try {
    if (nats.allowUntested !== true) checkNatsVersion(connection.info?.version ?? "", shown);
    await patiently(waiting, shown, () => checkPermissions(connection, asked.bucket, shown));
    const registry = await patiently(waiting, shown, () =>
      NatsRegistry.open({ connection, ...asked }),
    );
    return { connection, registry };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Tries again while NATS does not answer, and says why. Other errors end it at once. */
export function patiently<T>(
  { stop, say }: Waiting,
  shown: string,
  act: () => Promise<T>,
): Promise<T> {
  let said: string | undefined;
  return keepTrying(new SystemClock(), NATS_MS_MAX, async () => {
    if (stop.aborted) throw new SluiceError("ABORTED", "stopped before NATS answered");
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof SluiceError && error.isRetryable)) throw error;
      const lasting = lastingFault(error, shown);
      if (lasting !== undefined) throw lasting;
      const { message } = error;
      if (message !== said) say(`waiting for NATS: ${message}\n`);
      said = message;
      throw error;
    }
  });
}
