/** A broker on its log, with HTTP and the stream before it: all that `sluice serve` runs. */
import { type OpenOptions, openBroker } from "@sluice/broker";
import { describeTorn, FileLog, type Log, MemoryLog, type TornTail } from "@sluice/log";
import { type Broker, SluiceError, SystemClock } from "@sluice/protocol";
import {
  type CreatedKey,
  type LogLevel,
  type RunningServer,
  type ServeOptions,
  serve,
  type TlsOptions,
} from "@sluice/server";
import { withoutLogin } from "../nats-address.ts";
import { readPem } from "../read-pem.ts";
import type { ServeSettings } from "./settings.ts";

export interface Served {
  readonly address: string;
  /** Where the data lies. */
  readonly dir: string;
  /** What is kept through what, where that is not up to this machine alone. */
  readonly durability?: string;
  /** Ready for calls; rejects when the log cannot be recovered. */
  readonly broker: Promise<Broker>;
  /** The first key, when keys are on and there was none. */
  readonly firstKey: Promise<CreatedKey | undefined>;
  /** Resolves when the log can confirm nothing more. */
  readonly failed: Promise<SluiceError>;
  close(): Promise<void>;
}

const PORT = 7070;
const DIR = "./data";

export async function startServer(settings: ServeSettings): Promise<Served> {
  const { dir = DIR, durability = "fsync" } = settings;
  tlsOf(settings);
  const warnings: string[] = [];
  const log = await openLog(dir, durability, (torn) => warnings.push(describeTorn(torn)));
  const { promise: failed, resolve: onFailure } = Promise.withResolvers<SluiceError>();
  let progress = { doneBytes: 0, totalBytes: 0 };
  const broker = openBroker({
    log,
    clock: new SystemClock(),
    onFailure,
    onProgress: (now) => {
      progress = now;
    },
    ...brokerOptions(settings),
  });
  broker.catch(() => {});
  let running: RunningServer;
  try {
    running = await serve({
      ...serverOptions(settings),
      broker,
      recovery: () => progress,
      warnings,
    });
  } catch (error) {
    await broker.then((opened) => opened.close()).catch(() => log.close());
    throw error;
  }
  const close = async (): Promise<void> => {
    await running.close();
    await (await broker).close();
  };
  const { address, firstKey } = running;
  return {
    address,
    dir: durability === "memory" ? "memory" : dir,
    broker,
    firstKey,
    failed,
    close,
  };
}

/** Options that are not set take the broker's default. */
export function brokerOptions(
  settings: ServeSettings,
): Pick<OpenOptions, "payloadMemoryBytes" | "cooldownMaxMs" | "queuesMax"> {
  const { "payload-memory": payloadMemoryBytes, "cooldown-max-ms": cooldownMaxMs } = settings;
  const { "queues-max": queuesMax } = settings;
  return {
    ...(payloadMemoryBytes === undefined ? {} : { payloadMemoryBytes }),
    ...(cooldownMaxMs === undefined ? {} : { cooldownMaxMs }),
    ...(queuesMax === undefined ? {} : { queuesMax }),
  };
}

async function openLog(
  dir: string,
  durability: string,
  onTorn: (torn: TornTail) => void,
): Promise<Log> {
  if (/^\w+:\/\//.test(dir)) {
    const message = `dir must be a directory, got ${withoutLogin(dir)}: see --cluster for NATS`;
    throw new SluiceError("INVALID", message, { field: "dir" });
  }
  if (durability === "memory") return new MemoryLog();
  if (durability === "fsync" || durability === "os") {
    return FileLog.open({ dir, durability, onTorn });
  }
  const message = `durability must be fsync, os or memory, got ${JSON.stringify(durability)}`;
  throw new SluiceError("INVALID", message, { field: "durability", value: durability });
}

export function serverOptions(settings: ServeSettings): Omit<ServeOptions, "broker"> {
  const rootKey = settings["root-key"];
  return {
    host: settings.host,
    port: settings.port ?? PORT,
    tls: tlsOf(settings),
    insecure: settings.insecure,
    keys: rootKey === undefined ? settings.keys === true : { rootKey },
    resumeMs: settings["resume-ms"],
    hosts: settings["allow-host"],
    origins: settings["allow-origin"],
    log: (settings["log-level"] ?? "info") as LogLevel,
    limits: {
      addsPerSecond: settings["adds-per-second"],
      requestsPerSecond: settings["requests-per-second"],
    },
  };
}

export function tlsOf(settings: ServeSettings): TlsOptions | undefined {
  const { "tls-cert": cert, "tls-key": key, "tls-ca": ca } = settings;
  if (cert === undefined && key === undefined && ca === undefined) return undefined;
  if (cert === undefined || key === undefined) {
    throw new SluiceError("INVALID", "tls-cert and tls-key belong together");
  }
  return {
    cert: readPem("tls-cert", cert),
    key: readPem("tls-key", key),
    ...(ca === undefined ? {} : { ca: readPem("tls-ca", ca) }),
  };
}
