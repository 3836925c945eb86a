import { keepTrying } from "@sluice/cluster/node";
import { NatsRegistry } from "@sluice/cluster/registry";
import { connectNats, lastingFault } from "@sluice/log/nats";
import { SluiceError, SystemClock } from "@sluice/protocol";
import { NATS_MS_MAX } from "../limits.ts";
import { type NatsAddress, natsAccess, parseNatsAddress, withoutLogin } from "../nats-address.ts";
import type { ServeSettings } from "./settings.ts";

export type Nats = Awaited<ReturnType<typeof connectNats>>;

/** Where a start that takes its time says so, and what ends it. */
export interface Waiting {
  readonly stop: AbortSignal;
  say(remark: string): void;
}

export interface Reached {
  readonly connection: Nats;
  readonly registry: NatsRegistry;
}

export function addressOfNats({ cluster = "" }: ServeSettings): NatsAddress {
  const address = parseNatsAddress(cluster);
  if (address !== undefined && address.stream === undefined) return address;
  const got = JSON.stringify(withoutLogin(cluster));
  const message = `cluster must be addresses of NATS such as nats://a,b,c, got ${got}`;
  throw new SluiceError("INVALID", message, { field: "cluster" });
}

/** Connects and opens the registry. Servers that start at the same moment are waited for. */
export async function reachNats(
  settings: ServeSettings,
  bucket: string,
  waiting: Waiting,
): Promise<Reached> {
  const address = addressOfNats(settings);
  const access = natsAccess(address, settings);
  const connection = await patiently(waiting, address.shown, () =>
    connectNats(address.servers, access),
  );
  try {
    const { replicas } = settings;
    const asked = replicas === undefined ? {} : { replicas };
    const registry = await patiently(waiting, address.shown, () =>
      NatsRegistry.open({ connection, bucket, ...asked }),
    );
    return { connection, registry };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Does it again while nobody answers, and says why; what waiting does not mend ends it at once. */
export function patiently<T>(
  { stop, say }: Waiting,
  shown: string,
  act: () => Promise<T>,
): Promise<T> {
  let said: string | undefined;
  return keepTrying(new SystemClock(), NATS_MS_MAX, async () => {
    if (stop.aborted) throw new SluiceError("ABORTED", "told to end before NATS answered");
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
