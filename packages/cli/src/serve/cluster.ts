/** A node of a cluster: all that `sluice serve --cluster` runs. */
import { hostname } from "node:os";
import { SystemClock } from "@sluice/broker";
import { dialWs } from "@sluice/cluster/client";
import { ClusterNode, keepTrying } from "@sluice/cluster/node";
import { NatsRegistry } from "@sluice/cluster/registry";
import { connectNats, describeDurability, NatsLog, type NatsLogOptions } from "@sluice/log/nats";
import { type Broker, SluiceError } from "@sluice/protocol";
import type { RunningServer } from "@sluice/server";
import { clusterPage } from "./cluster-page.ts";
import { type Listening, listen, type Served, tlsOf } from "./server.ts";
import type { ServeSettings } from "./settings.ts";
import { VERSION } from "./version.ts";

const BUCKET = "sluice";
/** How long NATS servers that start at the same time may take to agree on leaders. */
const NATS_MS_MAX = 30_000;
/** Without a word of NATS for so long a partition is given up, and opened anew. */
const LOG_DEADLINE_MS = 10_000;
/** How long the others may take to take over what a node that ends has. */
const LEAVE_MS = 15_000;

type Nats = Awaited<ReturnType<typeof connectNats>>;

export async function startNode(settings: ServeSettings): Promise<Served> {
  const servers = serversOf(settings.cluster!);
  // The servers that the operator names are those that can be reached from here.
  const options = { ...credentialsOf(settings.cluster!), ignoreClusterUpdates: true };
  const connection = await connectNats(servers, options);
  try {
    const { replicas } = settings;
    const asked = replicas === undefined ? {} : { replicas };
    const registry = await keepTrying(new SystemClock(), NATS_MS_MAX, () =>
      NatsRegistry.open({ connection, bucket: BUCKET, ...asked }),
    );
    return await run(settings, connection, registry);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function run(
  settings: ServeSettings,
  connection: Nats,
  registry: NatsRegistry,
): Promise<Served> {
  const failed = Promise.withResolvers<SluiceError>();
  const joined = Promise.withResolvers<Broker>();
  joined.promise.catch(() => {});
  const node = newNode(settings, connection, registry, failed.resolve);
  const listening: Listening = {
    broker: joined.promise,
    cluster: node,
    pages: [clusterPage(node)],
    hosts: hostsOf(settings),
  };
  const running = await listen(settings, listening);
  const close = async (): Promise<void> => {
    await node.leave({ timeoutMs: LEAVE_MS });
    await running.close();
    await node.stop();
    await registry.close();
    await connection.close();
  };
  try {
    joined.resolve(await node.start(addressOf(settings, running)));
  } catch (error) {
    joined.reject(error);
    await close();
    throw error;
  }
  return {
    address: running.address,
    dir: `${settings.cluster} (node ${nameOf(settings)})`,
    durability: durabilityOf(connection, settings),
    broker: joined.promise,
    firstKey: running.firstKey,
    failed: failed.promise,
    close,
  };
}

function newNode(
  settings: ServeSettings,
  connection: Nats,
  registry: NatsRegistry,
  onSuperseded: (error: SluiceError) => void,
): ClusterNode {
  const { replicas, partitions, "payload-memory": payloadMemoryBytes } = settings;
  const { ca, cert, key } = tlsOf(settings) ?? {};
  const logOf = (partition: number): NatsLogOptions => ({
    connection,
    stream: `${BUCKET}-${partition}`,
    deadlineMs: LOG_DEADLINE_MS,
    ...(replicas === undefined ? {} : { replicas }),
  });
  return new ClusterNode({
    registry,
    node: nameOf(settings),
    version: VERSION,
    partitions,
    clock: new SystemClock(),
    // Nodes show each other what they show their clients.
    dial: dialWs(ca === undefined ? {} : { ca, cert, key }),
    openLog: (partition, share) => NatsLog.open({ ...logOf(partition), ...share }),
    followLog: (partition, share) => NatsLog.follow({ ...logOf(partition), ...share }),
    broker: payloadMemoryBytes === undefined ? {} : { payloadMemoryBytes },
    resumeMs: settings["resume-ms"],
    onError: (partition, { message }) => {
      const about = partition === undefined ? "cluster" : `partition ${partition}`;
      process.stderr.write(`${about}: ${message}\n`);
    },
    onSuperseded,
  });
}

function durabilityOf({ info }: Nats, { replicas }: ServeSettings): string {
  const copies = replicas ?? (info?.cluster === undefined ? 1 : 3);
  const stream = { config: { num_replicas: copies } } as NatsLog["opened"];
  return describeDurability({ version: info?.version ?? "0.0.0" }, stream);
}

/** `nats://a,b,c` is three servers. */
function serversOf(text: string): string[] {
  const servers = text.split(",").map((part) => part.trim().replace(/^(nats|tls):\/\//, ""));
  const bare = servers.map((server) => server.replace(/^[^@/]*@/, ""));
  if (bare.every((server) => /^(\[[0-9a-fA-F:]+\]|[^\s:/]+)(:\d+)?\/?$/.test(server))) {
    return bare.map((server) => `${text.startsWith("tls:") ? "tls" : "nats"}://${server}`);
  }
  const message = `cluster must be addresses of NATS such as nats://a,b,c, got ${redacted(text)}`;
  throw new SluiceError("INVALID", message, { field: "cluster" });
}

/** `nats://user:password@a,b`: the same for all; a user alone is a token. */
function credentialsOf(text: string): { user?: string; pass?: string; token?: string } {
  const [, user, pass] = /^(?:\w+:\/\/)?([^:@/,]+)(?::([^@/,]*))?@/.exec(text) ?? [];
  if (user === undefined) return {};
  const name = decodeURIComponent(user);
  return pass === undefined ? { token: name } : { user: name, pass: decodeURIComponent(pass) };
}

function redacted(text: string): string {
  return JSON.stringify(text.replace(/[^/@,]*@/g, "***@"));
}

function nameOf({ node, port }: ServeSettings): string {
  const name = node ?? `${hostname()}-${port ?? DEFAULT_PORT}`.replace(/[^\w.-]/g, "-");
  if (/^[\w-]+(\.[\w-]+)*$/.test(name) && name.length <= NAME_CHARS_MAX) return name;
  const message = `node must be a name of letters, digits, dots and dashes, got ${name}`;
  throw new SluiceError("INVALID", message, { field: "node", value: name });
}

const DEFAULT_PORT = 7070;
const NAME_CHARS_MAX = 100;

/** Where others reach this node: clients, and the other nodes. */
function addressOf({ advertise, host }: ServeSettings, running: RunningServer): string {
  if (advertise !== undefined) return advertise.replace(/\/$/, "");
  if (host !== "0.0.0.0" && host !== "::") return running.address;
  const message = `${host} is no address that others can call: say --advertise http://NAME:PORT`;
  throw new SluiceError("INVALID", message, { field: "advertise" });
}

/** The other nodes call this one by the name that it advertises. */
function hostsOf(settings: ServeSettings): readonly string[] | undefined {
  const { advertise, "allow-host": hosts } = settings;
  if (advertise === undefined) return hosts;
  if (!URL.canParse(advertise)) {
    const message = `advertise must be an address such as http://a.example:7070, got ${advertise}`;
    throw new SluiceError("INVALID", message, { field: "advertise", value: advertise });
  }
  const hasKeys = settings.keys === true || settings["root-key"] !== undefined;
  // With keys any name will do, unless some are listed.
  if (hasKeys && hosts === undefined) return undefined;
  return [...(hosts ?? []), new URL(advertise).hostname];
}
