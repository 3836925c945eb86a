import { stat } from "node:fs/promises";
import {
  type Copied,
  checkEmpty,
  copyBatches,
  describeTorn,
  FileLog,
  type Log,
  type TornTail,
  warnOfTorn,
} from "@sluice/log";
import { needs, SluiceError } from "@sluice/protocol";
import { withBar } from "../bar.ts";
import { type Call, Misuse, tell, wholeOf } from "../command.ts";
import {
  NATS_PACKAGES,
  type NatsAddress,
  type NatsFiles,
  natsAccess,
  natsFiles,
  parseNatsAddress,
  withoutLogin,
} from "../nats-address.ts";
import { counted } from "../show.ts";

interface Opened {
  readonly log: Log;
  close(): Promise<void>;
}

/** Copies all that is kept to a log that holds nothing yet, or divides it over several. */
export async function copyLog(call: Call, from: string, to: string): Promise<number> {
  const files = natsFiles(call);
  const partitions = wholeOf(call, "partitions", 1);
  const onTorn = (torn: TornTail): void => {
    call.output.progress.write(`${describeTorn(torn)}\n`);
  };
  const source = await openSource(from, files, onTorn);
  try {
    if (partitions !== undefined) return await divide(call, source.log, to, partitions);
    const target = await openTarget(to, files, wholeOf(call, "replicas", 1));
    try {
      await checkEmpty(shown(to), target.log);
      const copied = await withBar(call.output, "copying", (onProgress) =>
        copyBatches(source.log, target.log, { stop: call.stop, onProgress }),
      );
      return tell(call, copied, () => describe(from, to, copied));
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function divide(call: Call, log: Log, to: string, partitions: number): Promise<number> {
  if (isStream(to)) {
    throw new Misuse(
      `with --partitions the target is a new directory, from which \`sluice cluster restore\` ` +
        `makes the cluster, got ${shown(to)}`,
    );
  }
  const load = () => import("@sluice/cluster/nats");
  const { divideIntoBackup } = await needs("sluice log copy --partitions", NATS_PACKAGES, load);
  const note = await withBar(call.output, "dividing", (onProgress) =>
    divideIntoBackup({ log, dir: to, partitions, stop: call.stop, onProgress }),
  );
  return tell(call, note, () => {
    const parts = note.logs.map(({ partition, factsBytes }) => `${partition}: ${factsBytes}`);
    const divided = `divided over ${counted(partitions, "partition")} (bytes ${parts.join(", ")})`;
    return `${divided}; make the cluster with sluice cluster restore ${to}`;
  });
}

/** Copies what a stream holds now to a directory, and lets its owner work on. */
export async function exportLog(call: Call, from: string, to: string): Promise<number> {
  const source = await readStream(from, natsFiles(call));
  try {
    const target = await openDirectory(to);
    try {
      await checkEmpty(shown(to), target.log);
      const copied = await withBar(call.output, "exporting", (onProgress) =>
        copyBatches(source, target.log, { stop: call.stop, onProgress }),
      );
      return tell(call, copied, () => describe(from, to, copied));
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Reads all that a stream holds now, and checks it as a node does that opens it. */
export async function checkStream(call: Call, address: string): Promise<number> {
  const source = await readStream(address, natsFiles(call));
  const found: Copied = { batches: 0, factsBytes: 0 };
  try {
    for await (const { facts } of source.replay()) {
      found.batches++;
      found.factsBytes += facts.length;
    }
  } finally {
    await source.close();
  }
  const { batches, factsBytes } = found;
  return tell(call, found, () => {
    const held = `${batches} batches, ${factsBytes} bytes of facts`;
    return `${shown(address)}: ${held}\nno damage`;
  });
}

/** A log whose owner keeps it: all that is there now can be read. */
type ReadLog = Pick<Log, "replay" | "sizeBytes" | "close">;

async function readStream(text: string, files: NatsFiles): Promise<ReadLog> {
  const address = parseStream(text);
  const access = natsAccess(address, files);
  const { connectNats, NatsLog } = await needs(
    "a log on NATS",
    NATS_PACKAGES,
    () => import("@sluice/log/nats"),
  );
  const connection = await connectNats(address.servers, access);
  try {
    const log = await NatsLog.read({ connection, stream: address.stream });
    return {
      sizeBytes: log.sizeBytes,
      replay: () => log.replay(),
      close: async () => {
        await log.close();
        await connection.close();
      },
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** What is copied must be there: opening would make it. */
async function openSource(
  address: string,
  files: NatsFiles,
  onTorn: (torn: TornTail) => void,
): Promise<Opened> {
  if (isStream(address)) return openStream(address, files, { create: false });
  const found = await stat(address).catch(() => undefined);
  if (found?.isDirectory()) return openDirectory(address, onTorn);
  throw new SluiceError("NOT_FOUND", `${address} is not a directory`, { address });
}

function openTarget(
  address: string,
  files: NatsFiles,
  replicas: number | undefined,
): Promise<Opened> {
  if (!isStream(address)) return openDirectory(address);
  return openStream(address, files, replicas === undefined ? {} : { replicas });
}

async function openDirectory(dir: string, onTorn = warnOfTorn): Promise<Opened> {
  const log = await FileLog.open({ dir, onTorn });
  return { log, close: () => log.close() };
}

async function openStream(
  text: string,
  files: NatsFiles,
  options: { create?: boolean; replicas?: number },
): Promise<Opened> {
  const address = parseStream(text);
  const access = natsAccess(address, files);
  const needed = await needs("a log on NATS", NATS_PACKAGES, async () => ({
    ...(await import("@sluice/log/nats")),
    ...(await import("@sluice/cluster/nats")),
  }));
  const { connectNats, NatsLog, checkCopyTarget } = needed;
  const connection = await connectNats(address.servers, access);
  try {
    // Before it is opened, which would shut out the node that has it.
    if (options.create !== false) await checkCopyTarget(address.stream, connection);
    const log = await NatsLog.open({ connection, stream: address.stream, ...options });
    const close = async (): Promise<void> => {
      await log.close();
      await connection.close();
    };
    return { log, close };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

export function isStream(address: string): boolean {
  return /^(nats|tls):\/\//.test(address);
}

export function parseStream(text: string): NatsAddress & { readonly stream: string } {
  const address = parseNatsAddress(text);
  const { stream } = address ?? {};
  if (address !== undefined && stream !== undefined) return { ...address, stream };
  const wanted = "nats://[USER:PASSWORD@]HOST:PORT[,HOST:PORT...]/STREAM";
  const got = JSON.stringify(withoutLogin(text));
  throw new Misuse(`a stream is named as ${wanted}, got ${got}`);
}

function describe(from: string, to: string, { batches, factsBytes }: Copied): string {
  const ends = `from ${shown(from)} to ${shown(to)}`;
  return `copied ${batches} batches, ${factsBytes} bytes of facts, ${ends}`;
}

function shown(address: string): string {
  return isStream(address) ? parseStream(address).shown : address;
}
