import { stat } from "node:fs/promises";
import { FileLog, type Log } from "@sluice/log";
import { SluiceError } from "@sluice/protocol";
import { withBar } from "../bar.ts";
import { type Call, EXIT, Misuse, wholeOf } from "../command.ts";

/** Facts that are on their way at once: enough that neither end waits for the other. */
const ON_THE_WAY_BYTES = 8 * 1024 * 1024;

/** As large as those of a broker with its default settings. */
const FILE_BYTES = 8 * 1024 * 1024;

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
 * where they stand in a log is learnt anew at each replay, so that other positions mean nothing to
 * them.
 */
export async function copyLog(call: Call, from: string, to: string): Promise<number> {
  const source = await openSource(from);
  try {
    const target = await openTarget(to, wholeOf(call, "replicas", 1));
    try {
      await checkEmpty(to, target.log);
      const copied = await withBar(call.output, "copying", (onProgress) =>
        copyBatches(source.log, target.log, call.stop, onProgress),
      );
      call.output.out(call.isJson ? JSON.stringify(copied) : describe(from, to, copied));
      return EXIT.well;
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
    if (waitingBytes < ON_THE_WAY_BYTES) continue;
    await Promise.all(waiting);
    waiting = [];
    waitingBytes = 0;
  }
  await Promise.all(waiting);
  return copied;
}

/** What is copied must be there: opening would make it. */
async function openSource(address: string): Promise<Opened> {
  if (isStream(address)) return openStream(address, { create: false });
  const found = await stat(address).catch(() => undefined);
  if (found?.isDirectory()) return openDirectory(address);
  throw new SluiceError("NOT_FOUND", `${address} is not a directory`, { address });
}

function openTarget(address: string, replicas: number | undefined): Promise<Opened> {
  if (isStream(address)) return openStream(address, replicas === undefined ? {} : { replicas });
  return openDirectory(address);
}

async function openDirectory(dir: string): Promise<Opened> {
  const log = await FileLog.open({ dir, segmentBytes: FILE_BYTES });
  return { log, close: () => log.close() };
}

async function openStream(
  address: string,
  options: { create?: boolean; replicas?: number },
): Promise<Opened> {
  const { servers, stream, login } = parseStream(address);
  // Only who copies to or from NATS loads it.
  const { connectNats, NatsLog } = await import("@sluice/log/nats");
  const connection = await connectNats(servers, login);
  try {
    const log = await NatsLog.open({ connection, stream, ...options });
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
    const place = withoutPassword(address);
    throw new SluiceError("CONFLICT", `${place} is not empty: nothing was copied`);
  }
}

function isStream(address: string): boolean {
  return /^(nats|tls):\/\//.test(address);
}

interface StreamAddress {
  readonly servers: string[];
  readonly stream: string;
  readonly login: { user: string; pass: string } | undefined;
}

function parseStream(address: string): StreamAddress {
  const parts = /^(\w+):\/\/(?:([^:@/]+)(?::([^@/]*))?@)?([^@/]+)\/([\w-]+)$/.exec(address);
  if (parts === null) {
    const wanted = "nats://[USER:PASSWORD@]HOST:PORT[,HOST:PORT...]/STREAM";
    throw new Misuse(`a stream is named as ${wanted}, got ${JSON.stringify(address)}`);
  }
  const [, scheme, user, pass = "", hosts = "", stream = ""] = parts;
  const servers = hosts.split(",").map((host) => `${scheme}://${host}`);
  if (user === undefined) return { servers, stream, login: undefined };
  const login = { user: decodeURIComponent(user), pass: decodeURIComponent(pass) };
  return { servers, stream, login };
}

function describe(from: string, to: string, { batches, factsBytes }: Copied): string {
  const ends = `from ${withoutPassword(from)} to ${withoutPassword(to)}`;
  return `copied ${batches} batches, ${factsBytes} bytes of facts, ${ends}`;
}

function withoutPassword(address: string): string {
  return isStream(address) ? address.replace(/\/\/[^/]*@/, "//") : address;
}
