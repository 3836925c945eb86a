import { JetStreamApiCodes, JetStreamApiError, type StreamInfo } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { SluiceError } from "@sluice/protocol";
import { ACK_WAIT_MS } from "../limits.ts";
import { reasonOf } from "./errors.ts";
import { jetStreamManagerOf } from "./jetstream-place.ts";
import { defaultReplicas } from "./options.ts";

/** How many copies the streams have, by name. */
export type Copies = ReadonlyMap<string, number>;

export interface DurabilityOptions {
  /** The streams that are logs, and one that the logs are of no use without. */
  readonly logs: readonly string[];
  readonly registry: string;
  /** Copies that were asked for; absent: as many as a new stream gets. */
  readonly replicas?: number | undefined;
}

/**
 * What survives which failure, for the operator: by the streams that exist, because the
 * copies that are asked for count for new ones alone.
 */
export async function readDurability(
  connection: NatsConnection,
  { logs, registry, replicas = defaultReplicas(connection) }: DurabilityOptions,
): Promise<string> {
  const copies = await readCopies(connection, [registry, ...logs]);
  const ofLogs = [...copies].flatMap(([name, count]) => (name === registry ? [] : count));
  const kept = describeDurability(ofLogs.length === 0 ? replicas : Math.min(...ofLogs));
  return [kept, ...describeDifference(copies, replicas)].join(" ");
}

/** Of those that exist and answer: the others change nothing of what is confirmed. */
async function readCopies(connection: NatsConnection, names: readonly string[]): Promise<Copies> {
  const found = await Promise.allSettled(names.map((name) => findStream(connection, name)));
  const streams = found.map((one) => (one.status === "fulfilled" ? one.value : undefined));
  return new Map(
    streams.flatMap((one) =>
      one === undefined ? [] : [[one.config.name, one.config.num_replicas]],
    ),
  );
}

/** Undefined: there is none of this name. Rejects with DISCONNECTED when no server answers. */
export async function findStream(
  connection: NatsConnection,
  name: string,
): Promise<StreamInfo | undefined> {
  const manager = await jetStreamManagerOf(connection, { timeout: ACK_WAIT_MS });
  try {
    return await manager.streams.info(name);
  } catch (error) {
    const { StreamNotFound } = JetStreamApiCodes;
    if (error instanceof JetStreamApiError && error.code === StreamNotFound) return undefined;
    const message = `the stream ${name} does not answer: ${reasonOf(error)}`;
    throw new SluiceError("DISCONNECTED", message, { stream: name }, { cause: error });
  }
}

/**
 * What a confirmed batch survives in a stream of so many copies, in sentences. A client cannot see
 * how often the servers sync, so it is said what follows from it.
 */
export function describeDurability(copies: number): string {
  return `${describeKept(copies)} ${describeSync(copies)}`;
}

function describeKept(copies: number): string {
  if (copies === 1) {
    return "A confirmed batch is on 1 server: it survives a crash of the process, not the loss of the disk.";
  }
  if (copies === 2) {
    return (
      "A confirmed batch is on 2 of 2 servers: it survives a crash of all processes and the loss of" +
      " 1 disk, but nothing is confirmed while one of them is away."
    );
  }
  const lost = spare(copies);
  const machines = lost === 1 ? "1 machine with its disk" : `${lost} machines with their disks`;
  return (
    `A confirmed batch is on ${copies - lost} of ${copies} servers: it survives a crash of all` +
    ` processes, and the loss of ${machines}.`
  );
}

function describeSync(copies: number): string {
  return (
    `A power loss ${describeLosses(copies)} is survived only with "sync_interval: always" in the configuration of the servers;` +
    " without it JetStream confirms before it syncs, every 2 minutes by default."
  );
}

/** One server that has forgotten its last batches, and those that lag, can outvote who has them. */
function describeLosses(copies: number): string {
  if (copies === 1) return "of the machine";
  if (copies === 2) return "of 2 machines at once";
  return `of ${spare(copies) + 1} machines at once, or of 1 while others are slow or cut off,`;
}

/** Those that can be away while the rest still is a majority. */
function spare(copies: number): number {
  return Math.floor((copies - 1) / 2);
}

/** A sentence for each number of copies that is not the one that is wanted. */
export function describeDifference(copies: Copies, wanted: number): string[] {
  const others = Map.groupBy(
    [...copies].filter(([, count]) => count !== wanted),
    ([, count]) => count,
  );
  return [...others].map(([count, streams]) => {
    const names = streams.slice(0, NAMES_SHOWN).map(([name]) => name);
    const more = streams.length - names.length;
    const all = more === 0 ? names.join(", ") : `${names.join(", ")} and ${more} more`;
    return (
      `Not as wanted: ${copiesOf(count)} of ${all}, not ${wanted};` +
      ` "nats stream edit STREAM --replicas ${wanted}" changes one.`
    );
  });
}

const NAMES_SHOWN = 3;

function copiesOf(count: number): string {
  return count === 1 ? "1 copy" : `${count} copies`;
}
