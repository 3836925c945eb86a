import { connect, type NatsConnection, type NodeConnectionOptions } from "@nats-io/transport-node";
import { SluiceError } from "@sluice/protocol";

const CONNECT_MS = 5000;
/** A server that is back is found within this. */
const RECONNECT_MS = 250;
/** A server that stopped without a word is given up after two of these. */
const PING_MS = 2000;

/** A connection as a log needs it: it is made again for as long as the process runs. */
export async function connectNats(
  servers: readonly string[],
  options: NodeConnectionOptions = {},
): Promise<NatsConnection> {
  try {
    return await connect({
      servers: [...servers],
      timeout: CONNECT_MS,
      maxReconnectAttempts: -1,
      reconnectTimeWait: RECONNECT_MS,
      reconnectJitter: RECONNECT_MS,
      pingInterval: PING_MS,
      maxPingOut: 2,
      noAsyncTraces: true,
      ...options,
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `no NATS server answers at ${servers.join(", ")}: ${reason}`;
    throw new SluiceError("DISCONNECTED", message, { servers: [...servers] }, { cause: error });
  }
}
