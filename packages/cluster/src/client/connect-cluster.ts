/**
 * A client of a cluster. It knows the owners and talks to each directly; what concerns the cluster
 * as a whole, the making of queues, it asks of any node.
 */
import {
  type ConnectOptions,
  type LinkEvent,
  parseCallTimeout,
  reachBroker,
} from "@sluice/client/remote";
import { type ClientTls, dialWs } from "@sluice/client/ws";
import type { Duration } from "@sluice/protocol";
import {
  type Broker,
  type CallOptions,
  type DeleteQueueOptions,
  type QueueDeleted,
  type QueueInfo,
  type QueueOptions,
  SluiceError,
  SystemClock,
} from "@sluice/protocol";
import type { Socket } from "@sluice/protocol/wire";
import { PATIENCE_MS } from "../limits.ts";
import { OwnerDial } from "../partitions/owner-dial.ts";
import { RemotePartitions } from "../partitions/remote-partitions.ts";
import { ClusterRouter } from "../router/cluster-router.ts";
import { ClusterView } from "./cluster-view.ts";

export interface ClusterClientOptions {
  readonly apiKey?: string | undefined;
  /** How this program is called where connections are shown. */
  readonly client?: string | undefined;
  /** How long a call waits for its answer. Default 30 s. */
  readonly callTimeout?: ConnectOptions["callTimeout"];
  readonly tls?: ClientTls | undefined;
  /** What happens to the connections, of which there is one for each partition. */
  readonly onLink?: ((event: LinkEvent & { readonly partition: number }) => void) | undefined;
}

/** The port of the cluster whose nodes are at these addresses; one that answers is enough. */
export async function connectCluster(
  urls: readonly string[],
  { apiKey, client, tls = {}, callTimeout, onLink }: ClusterClientOptions = {},
): Promise<Broker> {
  const callTimeoutMs = parseCallTimeout(callTimeout);
  const view = await ClusterView.open({ urls, apiKey, tls });
  const dial = dialWs(tls);
  const owners = new OwnerDial({
    addressOf: (partition) => view.addressOf(partition),
    onChange: (listener) => view.onChange(listener),
    relays: () => view.urls,
    dial,
    clock: new SystemClock(),
  });
  const partitions = new RemotePartitions({
    dial: owners.dial,
    apiKey,
    callTimeoutMs,
    onLink: (partition, event) => {
      const address = view.addressOf(partition) || event.address;
      onLink?.({ ...event, address, partition });
    },
  });
  const anyNode = reachBroker({
    name: "the cluster",
    patienceMs: PATIENCE_MS,
    callTimeoutMs,
    apiKey,
    client,
    dial: () => dialAny(view.urls, dial),
  });
  return new ClusterClient({ view, owners, partitions, anyNode });
}

async function dialAny(
  urls: readonly string[],
  dial: (url: string) => Promise<Socket>,
): Promise<Socket> {
  let refusal: unknown;
  for (const url of urls) {
    try {
      return await dial(new URL("/v1/stream", url.replace(/^http/, "ws")).href);
    } catch (error) {
      refusal = error;
    }
  }
  const reason = refusal instanceof Error ? refusal.message : "";
  // So that it is tried again soon: nodes of a cluster come back within seconds.
  throw new SluiceError("MOVED", `no node of the cluster can be reached: ${reason}`);
}

interface ClientParts {
  readonly view: ClusterView;
  readonly owners: OwnerDial;
  readonly partitions: RemotePartitions;
  readonly anyNode: Broker;
}

class ClusterClient extends ClusterRouter {
  readonly #parts: ClientParts;

  constructor(parts: ClientParts) {
    const { view, partitions, anyNode } = parts;
    super({ directory: view, partitions, anyNode });
    this.#parts = parts;
  }

  override async setQueue(
    queue: string,
    options: QueueOptions,
    call?: CallOptions,
  ): Promise<QueueInfo> {
    const { anyNode, view } = this.#parts;
    const info = await anyNode.setQueue(queue, options, call);
    await view.refresh();
    return info;
  }

  override async deleteQueue(queue: string, options?: DeleteQueueOptions): Promise<QueueDeleted> {
    const { anyNode, view } = this.#parts;
    const deleted = await anyNode.deleteQueue(queue, options);
    await view.refresh();
    return deleted;
  }

  override async close(options?: { timeout?: Duration | undefined }): Promise<void> {
    const { view, owners, anyNode } = this.#parts;
    await Promise.all([super.close(options), anyNode.close(options)]);
    owners.close();
    view.close();
  }
}
