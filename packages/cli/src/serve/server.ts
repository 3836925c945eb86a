/** A broker on its log, with HTTP and the stream before it: all that `sluice serve` runs. */
import { openBroker } from "@sluice/broker";
import { describeTorn, type LogPlace, openLog } from "@sluice/log";
import {
  among,
  BROKER_OPTIONS,
  type Broker,
  LIMIT_OPTIONS,
  SERVER_OPTIONS,
  type ServerSettings,
  SluiceError,
  SystemClock,
} from "@sluice/protocol";
import {
  type CreatedKey,
  type RunningServer,
  type ServeOptions,
  serve,
  type TlsOptions,
} from "@sluice/server";
import { eventWebhooks } from "sluice/webhooks";
import { withoutLogin } from "../nats-address.ts";
import { readPem } from "../read-pem.ts";
import { outboxPage } from "./outbox-page.ts";

export interface Served {
  readonly address: string;
  /** The directory of the data. */
  readonly dir: string;
  /** What is kept through what, where that is not up to this machine alone. */
  readonly durability?: string;
  /** Ready for calls; rejects when the log cannot be recovered. */
  readonly broker: Promise<Broker>;
  /** The first key, when keys are on and there was none. */
  readonly firstKey: Promise<CreatedKey | undefined>;
  /** Resolves when the log can confirm nothing more, or a thread of the server has failed. */
  readonly failed: Promise<SluiceError>;
  close(): Promise<void>;
}

export async function startServer(settings: ServerSettings): Promise<Served> {
  const place = placeOf(settings);
  tlsOf(settings);
  const warnings: string[] = [];
  const log = await openLog(place, {
    onTorn: (torn) => warnings.push(describeTorn(torn)),
    onWarning: (warning) => warnings.push(warning),
  });
  const { promise: failed, resolve: onFailure } = Promise.withResolvers<SluiceError>();
  let progress = { doneBytes: 0, totalBytes: 0 };
  const broker = openBroker({
    log,
    clock: new SystemClock(),
    onFailure,
    onProgress: (now) => {
      progress = now;
    },
    ...among(BROKER_OPTIONS, settings),
  });
  broker.catch(() => {});
  let running: RunningServer;
  try {
    running = await serve({
      ...serverOptions(settings),
      broker,
      pages: settings.postgres === undefined ? [] : [outboxPage(settings.postgres)],
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
    dir: describePlace(place),
    broker,
    firstKey,
    failed: Promise.race([failed, running.failed]),
    close,
  };
}

/** Two places are a mistake, and so is an address where a directory belongs. */
function placeOf({ dir, log, durability = "fsync" }: ServerSettings): LogPlace {
  if (log !== undefined && dir !== undefined) {
    throw new SluiceError("INVALID", "give either --log or --dir, not both");
  }
  if (dir !== undefined && /^\w+:\/\//.test(dir)) {
    const shown = withoutLogin(dir);
    const message = `dir must be a directory, got ${shown}: see --log for PostgreSQL, --cluster for NATS`;
    throw new SluiceError("INVALID", message, { field: "dir" });
  }
  return {
    durability,
    log,
    dir: log === undefined ? (dir ?? SERVER_OPTIONS.dir.default) : undefined,
  };
}

function describePlace({ durability, log, dir }: LogPlace): string {
  if (durability === "memory") return "memory";
  return dir ?? withoutLogin(log!);
}

export function serverOptions(settings: ServerSettings): Omit<ServeOptions, "broker"> {
  const { host, port = SERVER_OPTIONS.port.default, insecure, keys, rootKey } = settings;
  const {
    threads,
    resume,
    allowHosts,
    allowOrigins,
    webhookHosts: hosts,
    logLevel = "info",
  } = settings;
  return {
    host,
    port,
    insecure,
    keys: rootKey === undefined ? keys === true : { rootKey },
    tls: tlsOf(settings),
    threads,
    resume,
    allowHosts,
    allowOrigins,
    webhooks: eventWebhooks({ hosts }),
    log: logLevel,
    limits: among(LIMIT_OPTIONS, settings),
  };
}

export function tlsOf(settings: ServerSettings): TlsOptions | undefined {
  const { tlsCert: cert, tlsKey: key, tlsCa: ca } = settings;
  if (cert === undefined && key === undefined && ca === undefined) return undefined;
  if (cert === undefined || key === undefined) {
    throw new SluiceError("INVALID", "--tls-cert and --tls-key must be given together");
  }
  return {
    cert: readPem("tls-cert", cert),
    key: readPem("tls-key", key),
    ...(ca === undefined ? {} : { ca: readPem("tls-ca", ca) }),
  };
}
