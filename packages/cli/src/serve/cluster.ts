/** The settings of `sluice serve --cluster`, as a node of a cluster takes them. */
import { type ServeNodeOptions, serveNode, type Waiting } from "@sluice/cluster/nats";
import { among, BROKER_OPTIONS, type ServerSettings, SluiceError, VERSION } from "@sluice/protocol";
import { type NatsAddress, natsAccess, parseNatsAddress, withoutLogin } from "../nats-address.ts";
import { readPem } from "../read-pem.ts";
import { clusterPage } from "./cluster-page.ts";
import { type Served, serverOptions, tlsOf } from "./server.ts";

export async function startNode(settings: ServerSettings, waiting: Waiting): Promise<Served> {
  checkSettings(settings);
  const address = addressOfNats(settings);
  const { servers, shown } = address;
  const served = await serveNode({
    nats: { servers, shown, access: natsAccess(address, settings) },
    name: settings.clusterName,
    node: settings.node,
    partitions: settings.partitions,
    replicas: settings.replicas,
    advertise: settings.advertise,
    version: VERSION,
    peerTls: peerTls(settings),
    broker: among(BROKER_OPTIONS, settings),
    server: serverOptions(settings),
    pages: (node) => [clusterPage(node)],
    waiting,
    onError: (partition, { message }) => {
      const about = partition === undefined ? "cluster" : `partition ${partition}`;
      process.stderr.write(`${about}: ${message}\n`);
    },
  });
  return { ...served, dir: served.place, firstKey: served.server.firstKey };
}

function addressOfNats({ cluster = "" }: ServerSettings): NatsAddress {
  const address = parseNatsAddress(cluster);
  if (address !== undefined && address.stream === undefined) return address;
  const got = JSON.stringify(withoutLogin(cluster));
  const message = `cluster must be addresses of NATS such as nats://a,b,c, got ${got}`;
  throw new SluiceError("INVALID", message, { field: "cluster" });
}

/** Nodes show each other what they show their clients, and trust whom they are told to. */
function peerTls(settings: ServerSettings): ServeNodeOptions["peerTls"] {
  const { ca: clientCa, cert, key } = tlsOf(settings) ?? {};
  const { peerCa } = settings;
  const ca = peerCa === undefined ? clientCa : readPem("peer-ca", peerCa);
  return ca === undefined ? {} : { ca, cert, key };
}

function checkSettings({ dir, durability }: ServerSettings): void {
  const alone = dir === undefined ? durability && "durability" : "dir";
  if (!alone) return;
  const message = `${alone} is for a single server: a cluster keeps its jobs in NATS`;
  throw new SluiceError("INVALID", message, { field: alone });
}
