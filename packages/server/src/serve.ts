/** The broker on the network: every call of the port, over HTTP and the stream, if one may. */
import type { IncomingMessage, Server } from "node:http";
import {
  type Broker,
  type Duration,
  RESUME,
  SERVER_OPTIONS,
  SluiceError,
  SystemClock,
} from "@sluice/protocol";
import type { FastifyInstance } from "fastify";
import type { AuditLog } from "./audit/audit-log.ts";
import { openAudit, viaOfClient } from "./audit/caller.ts";
import { BrokerAccess } from "./broker-access.ts";
import { brokerRoutes } from "./broker-routes.ts";
import type { ClusterDoor } from "./cluster-door.ts";
import type { RecoveryProgress } from "./health.ts";
import type { CreatedKey } from "./keys/key-ring.ts";
import { opens, type Sealed, seal } from "./keys/secret.ts";
import { type ServerKeys, serverKeys } from "./keys/server-keys.ts";
import { ROOT_KEY_CHARS_MIN } from "./limits.ts";
import { listen, type Running } from "./running.ts";
import { countApart } from "./shell/listener.ts";
import { checkAddress, checkKnown, type ShellOptions } from "./shell/options.ts";
import { isLoopback } from "./shell/origin.ts";
import { newShell, type Shell } from "./shell/shell.ts";
import { type StreamOptions, serveStream } from "./stream/serve-stream.ts";
import type { OpenWebhookSender } from "./webhooks/sender.ts";

export interface ServeOptions extends ShellOptions {
  /** It stays the caller's: closing the server does not close it. A promise while it recovers. */
  broker: Broker | Promise<Broker>;
  /** How far the recovery is, while `broker` is a promise. */
  recovery?: (() => RecoveryProgress | undefined) | undefined;
  /** Ask every caller for a key; with `rootKey`, one that may do everything and is not stored. */
  keys?: boolean | { rootKey?: string | undefined } | undefined;
  /** How long the leases of a lost worker wait for it to return. Default 2s, at most 1h. */
  resume?: Duration | undefined;
  /**
   * How many threads the server has. One does everything; of more, one has the broker and the
   * others hold the connections. Default 1.
   */
  threads?: number | undefined;
  /** The server is a node of a cluster, and `broker` its router. */
  cluster?: ClusterDoor | undefined;
  /** Logged when the server starts: what its owner found when it opened the broker's log. */
  warnings?: readonly string[] | undefined;
  /** Sends webhooks on events: `eventWebhooks()` of `sluice/webhooks`. Absent: none are sent. */
  webhooks?: OpenWebhookSender | undefined;
  /** Routes of one's own beside those of the broker, such as the dashboard's files. */
  routes?: ((app: FastifyInstance) => void | Promise<void>) | undefined;
}

/** What the stream, and other upgrades of a connection, need of the server. */
export interface StreamDoor {
  readonly server: Server;
  /** Whether an upgrade is to be refused: a stranger's page may have asked for it. */
  refuse(request: IncomingMessage): { status: number; message: string } | undefined;
  /** The broker as the holder of this key may use it, checked on every call. */
  open(apiKey: string | undefined, request?: IncomingMessage, client?: string): Promise<Broker>;
  /** Aborted when the server begins to close. */
  readonly closing: AbortSignal;
}

export interface RunningServer extends Running {
  readonly keys: ServerKeys;
  /** The first key, when there was none: shown this once. */
  readonly firstKey: Promise<CreatedKey | undefined>;
  readonly stream: StreamDoor;
}

const OWN: Readonly<Record<Exclude<keyof ServeOptions, keyof ShellOptions>, true>> = {
  broker: true,
  recovery: true,
  keys: true,
  resume: true,
  threads: true,
  cluster: true,
  warnings: true,
  webhooks: true,
  routes: true,
};

export async function serve(options: ServeOptions): Promise<RunningServer> {
  checkKnown("serve", options, OWN);
  const rootKey = typeof options.keys === "object" ? options.keys.rootKey : undefined;
  if (rootKey !== undefined && rootKey.length < ROOT_KEY_CHARS_MIN) {
    const message = `keys.rootKey must have at least ${ROOT_KEY_CHARS_MIN} characters`;
    throw new SluiceError("INVALID", message, { field: "keys.rootKey" });
  }
  const hasKeys = options.keys !== undefined && options.keys !== false;
  checkAddress(options, hasKeys);
  const resumeMs = RESUME.parse("resume", options.resume ?? SERVER_OPTIONS.resume.default);
  const { cluster } = options;
  const own = cluster === undefined ? undefined : () => cluster.own();
  const clock = options.clock ?? new SystemClock();
  const parts = { ...options, clock, peers: cluster?.keys, own };
  const access = new BrokerAccess(parts, hasKeys, rootKey);
  const { default: threadsUsual, kind } = SERVER_OPTIONS.threads;
  const threads = kind.parse("threads", options.threads ?? threadsUsual);
  const shell = newShell({ ...options, clock }, access, { isThreaded: threads > 1 });
  warnOfPlainText(shell, options, hasKeys);
  for (const warning of options.warnings ?? []) shell.log.warn(warning);
  const audit = openAudit(shell, access);
  let running: Running | undefined;
  const trouble = (): string | undefined => running?.trouble();
  const registerRoutes = async (): Promise<void> => {
    brokerRoutes(shell, access, { ...options, audit, trouble });
    await options.routes?.(shell.app);
  };
  running = await listen(shell, options, registerRoutes, threads);
  const firstKey = access.firstKey();
  firstKey.catch(() => {});
  const stream = streamDoor(shell, access, audit);
  openStream(stream, resumeMs, partitionStreams(shell, access, audit, options.cluster));
  return { ...running, firstKey, keys: serverKeys(access), stream };
}

function openStream(
  { server, refuse, open, closing }: StreamDoor,
  resumeMs: number,
  partition: StreamOptions["partition"],
): void {
  const onAccepted = (request: IncomingMessage): void => countApart(server, request);
  const stream = serveStream(server, { open, refuse, resumeMs, partition, onAccepted });
  closing.addEventListener("abort", () => stream.close(), { once: true });
}

/** Streams to one partition, of other nodes and of clients that know who owns it. */
function partitionStreams(
  { verify }: Shell,
  access: BrokerAccess,
  log: AuditLog,
  cluster: ClusterDoor | undefined,
): StreamOptions["partition"] {
  if (cluster === undefined) return undefined;
  let secret: Sealed | undefined;
  cluster.secret.then((text) => (secret = seal(text))).catch(() => {});
  return (partition, socket, request) => {
    const admit: Parameters<ClusterDoor["accept"]>[2] = (apiKey, port) => {
      // What a node passes on was counted, and noted, where it came in.
      if (apiKey !== undefined && opens(secret, apiKey)) return { broker: port, isNode: true };
      const principal = verify(apiKey, request.socket.remoteAddress ?? "");
      const audit = { log, caller: { principal, via: "stream" as const } };
      return { broker: access.guarded(principal, { broker: port, audit }), isNode: false };
    };
    cluster.accept(partition, socket, admit, /[?&]relay=1\b/.test(request.url ?? ""));
  };
}

function warnOfPlainText({ log }: Shell, { host, tls }: ServeOptions, hasKeys: boolean): void {
  if (isLoopback(host ?? "127.0.0.1")) return;
  if (!hasKeys) log.warn(`no API keys on ${host}: anyone who can connect has full access`);
  else if (tls === undefined) log.warn(`keys travel to ${host} as plain text: use tls, or a proxy`);
}

/** Over a stream the key comes in the first frame, so that only `open` can ask for it. */
function streamDoor(
  { app, refuse, verify, closing }: Shell,
  access: BrokerAccess,
  audit: AuditLog,
): StreamDoor {
  const open: StreamDoor["open"] = async (apiKey, request, client) => {
    const principal = verify(apiKey, request?.socket.remoteAddress ?? "");
    const caller = { principal, via: viaOfClient(client) };
    return access.guarded(principal, { audit: { log: audit, caller } });
  };
  return { server: app.server, refuse, open, closing };
}
