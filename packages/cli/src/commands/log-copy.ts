import { stat } from "node:fs/promises";
import { describeTorn, FileLog, type Log, type TornTail, warnOfTorn } from "@sluice/log";
import { needs, SluiceError } from "@sluice/protocol";
import { withBar } from "../bar.ts";
import { type Call, Misuse, tell, wholeOf } from "../command.ts";
import { COPY_BYTES_MAX } from "../limits.ts";
import {
  NATS_PACKAGES,
  type NatsAddress,
  type NatsFiles,
  natsAccess,
  natsFiles,
  parseNatsAddress,
  withoutLogin,
} from "../nats-address.ts";

interface Opened {
  readonly log: Log;
  close(): Promise<void>;
}

interface Copied {
  batches: number;
  factsBytes: number;
}

/**
 * Batches are copied as they are. Facts name each other by ids of jobs, queues and operations;
 * their places in a log are learnt again at each replay, so that other positions mean nothing to
 * them.
 */
export async function copyLog(call: Call, from: string, to: string): Promise<number> {
  const files = natsFiles(call);
  const onTorn = (torn: TornTail): void => {
    call.output.progress.write(`${describeTorn(torn)}\n`);
  };
  const source = await openSource(from, files, onTorn);
  try {
    const target = await openTarget(to, files, wholeOf(call, "replicas", 1));
    try {
      await checkEmpty(to, target.log);
      const copied = await withBar(call.output, "copying", (onProgress) =>
        copyBatches(source.log, target.log, call.stop, onProgress),
      );
      return tell(call, copied, () => describe(from, to, copied));
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function copyBatches(
  from: Log,
  to: Log,
  stop: AbortSignal,
  onProgress: (doneBytes: number, totalBytes: number) => void,
): Promise<Copied> {
  const totalBytes = from.sizeBytes;
  const copied: Copied = { batches: 0, factsBytes: 0 };
  let waiting: Promise<unknown>[] = [];
  let waitingBytes = 0;
  for await (const { facts } of from.replay()) {
    if (stop.aborted) throw new SluiceError("ABORTED", "the copy is not complete: delete it");
    const appended = to.append(facts);
    // Told when all of them are waited for.
    appended.catch(() => {});
    waiting.push(appended);
    waitingBytes += facts.length;
    copied.batches++;
    copied.factsBytes += facts.length;
    onProgress(copied.factsBytes, totalBytes);
    if (waitingBytes < COPY_BYTES_MAX) continue;
    await Promise.all(waiting);
    waiting = [];
    waitingBytes = 0;
  }
  await Promise.all(waiting);
  return copied;
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

async function checkEmpty(address: string, log: Log): Promise<void> {
  for await (const _ of log.replay()) {
    throw new SluiceError("CONFLICT", `${shown(address)} is not empty: nothing was copied`);
  }
}

function isStream(address: string): boolean {
  return /^(nats|tls):\/\//.test(address);
}

function parseStream(text: string): NatsAddress & { readonly stream: string } {
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
