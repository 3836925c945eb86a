/**
 * What a node must be allowed to do, tried before anything else. NATS tells a client of a missing
 * permission beside its answers, so that a call would only be late, again and again.
 */
import { headers, type NatsConnection } from "@nats-io/transport-node";
import { flushed, NatsLink } from "@sluice/log/nats";
import { SluiceError } from "@sluice/protocol";

/** A sequence that no stream has: the message is refused, and not stored. */
const NEVER = String(Number.MAX_SAFE_INTEGER);

export async function checkPermissions(
  connection: NatsConnection,
  cluster: string,
  shown: string,
): Promise<void> {
  const beats = `sluice.beat.${cluster}`;
  let error: Error | undefined;
  const subscription = connection.subscribe(beats, {
    callback: (refusal) => {
      error ??= refusal ?? undefined;
    },
  });
  const head = headers();
  head.set("Nats-Expected-Last-Subject-Sequence", NEVER);
  connection.publish(`$KV.${cluster}.check`, "", { headers: head });
  // No node reads these: logs have numbers behind the cluster's name, and beats begin with a name.
  for (const subject of [`sluice.log.${cluster}-check`, beats, "$JS.FC.check"]) {
    connection.publish(subject, "");
  }
  await flushed(connection).catch((error) => {
    subscription.unsubscribe();
    throw error;
  });
  // Refusals have arrived by now, and are reported a turn later.
  await new Promise((resolve) => setImmediate(resolve));
  subscription.unsubscribe();
  const denied = [...NatsLink.of(connection).denied, ...(error ? [`subscribe to ${beats}`] : [])];
  if (denied.length === 0) return;
  const message =
    `${shown} does not permit this login to ${[...new Set(denied)].join(", ")}: give it the permissions that ` +
    "docs/cluster.md lists";
  throw new SluiceError("FORBIDDEN", message, { denied });
}
