/**
 * Where the JetStream of a connection is: in the account of its login, in a domain that a leaf node
 * leads to, or behind a prefix under which an account imports it.
 */
import {
  type JetStreamClient,
  type JetStreamManager,
  type JetStreamManagerOptions,
  jetstream,
  jetstreamManager,
} from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";

interface JetStreamPlace {
  readonly domain?: string;
  readonly apiPrefix?: string;
}

const places = new WeakMap<NatsConnection, JetStreamPlace>();

export function placeJetStream(connection: NatsConnection, place: JetStreamPlace): void {
  const { domain, apiPrefix } = place;
  if (domain !== undefined) places.set(connection, { domain });
  else if (apiPrefix !== undefined) places.set(connection, { apiPrefix });
}

export function jetStreamOf(
  connection: NatsConnection,
  options: Pick<JetStreamManagerOptions, "timeout"> = {},
): JetStreamClient {
  return jetstream(connection, { ...places.get(connection), ...options });
}

export function jetStreamManagerOf(
  connection: NatsConnection,
  options: Pick<JetStreamManagerOptions, "timeout"> = {},
): Promise<JetStreamManager> {
  return jetstreamManager(connection, {
    ...places.get(connection),
    ...options,
    // A server that is just starting has no account info yet, and answers all else.
    checkAPI: false,
  });
}
