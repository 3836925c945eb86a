/** The settings of `sluice serve --cluster`, as a node of a cluster takes them. */
import type { NodeServerOptions, ServedNode, Waiting } from "@sluice/cluster/node";
import {
  among,
  BROKER_OPTIONS,
  needs,
  type ServerSettings,
  SluiceError,
  VERSION,
} from "@sluice/protocol";
import { NATS_PACKAGES } from "../nats-address.ts";
import { readPem } from "../read-pem.ts";
import { clusterEvents } from "./cluster-events.ts";
import { clusterNats } from "./cluster-nats.ts";
import { clusterPage } from "./cluster-page.ts";
import { clusterDatabase } from "./cluster-postgres.ts";
import { outboxPage } from "./outbox-page.ts";
import { type Served, serverOptions, tlsOf } from "./server.ts";

export async function startNode(settings: ServerSettings, waiting: Waiting): Promise<Served> {
  checkSettings(settings);
  const tell = clusterEvents((line) => process.stderr.write(line)).tell;
  const outbox = settings.postgres === undefined ? [] : [outboxPage(settings.postgres)];
  const options: NodeServerOptions & { readonly waiting: Waiting } = {
    name: settings.clusterName,
    node: settings.node,
    advertise: settings.advertise,
    version: VERSION,
    peerTls: peerTls(settings),
    broker: among(BROKER_OPTIONS, settings),
    server: serverOptions(settings),
    pages: (node) => [clusterPage(node), ...outbox],
    waiting,
    onError: tell,
  };
  const served = await serveNode(settings, options);
  return { ...served, dir: served.place, firstKey: served.server.firstKey };
}

/** Where the address says: only what is used there must be installed. */
async function serveNode(
  settings: ServerSettings,
  options: NodeServerOptions & { readonly waiting: Waiting },
): Promise<ServedNode> {
  const url = clusterDatabase(settings);
  if (url === undefined) {
    const nats = () => import("@sluice/cluster/nats");
    const loaded = await needs("sluice serve --cluster nats://", NATS_PACKAGES, nats);
    return loaded.serveNode({ ...options, nats: clusterNats(settings) });
  }
  const postgres = async () => {
    await import("pg");
    return import("@sluice/cluster/postgres");
  };
  const loaded = await needs("sluice serve --cluster postgres://", ["pg"], postgres);
  const onWarning = (text: string): void => void process.stderr.write(`${text}\n`);
  return loaded.servePostgresNode({ ...options, url, onWarning });
}

/** Nodes show each other the certificate that clients see, and trust the configured CA. */
function peerTls(settings: ServerSettings): NodeServerOptions["peerTls"] {
  const { ca: clientCa, cert, key } = tlsOf(settings) ?? {};
  const { peerCa } = settings;
  const ca = peerCa === undefined ? clientCa : readPem("peer-ca", peerCa);
  return ca === undefined ? {} : { ca, cert, key };
}

function checkSettings({ dir, durability }: ServerSettings): void {
  const alone = dir === undefined ? durability && "durability" : "dir";
  if (!alone) return;
  const message = `${alone} is for a single server: a cluster keeps its jobs in NATS or PostgreSQL`;
  throw new SluiceError("INVALID", message, { field: alone });
}
