import { openBroker } from "@sluice/broker";
import { type ConnectOptions, LinkFeed, loadTracing, SluiceHandles } from "@sluice/client";
import { connectBroker } from "@sluice/client/remote";
import { type ClientTls, connectCluster, dialWs } from "@sluice/cluster/client";
import type { Log } from "@sluice/log";
import {
  type Broker,
  checkOpen,
  type OpenOptions,
  SluiceError,
  SystemClock,
} from "@sluice/protocol";
import { openLog } from "./open.ts";
import { RecoveryBar } from "./recovery-bar.ts";

export interface ServerOptions extends ConnectOptions {
  /** For a server whose authority Node does not know, or that asks for a certificate. */
  tls?: ClientTls | undefined;
}

/** A durable job queue, in this process or on a server. */
export class Sluice extends SluiceHandles {
  /** Opens a directory, or a queue in memory; what the log holds is there when it resolves. */
  static async open(options: OpenOptions = {}): Promise<Sluice> {
    checkOpen(options);
    const clock = options.clock ?? new SystemClock();
    const [log, tracing] = await Promise.all([openLog(options), loadTracing()]);
    // Not only a write may fail: what is read back may be damaged, and then the broker stops too.
    const { promise: failed, resolve: onFailure } = Promise.withResolvers<SluiceError>();
    const port = await recover(log, { ...options, clock }, onFailure);
    return new Sluice({ port, clock, failed, tracing, inProcess: true });
  }

  /**
   * The queues of a server, as if they were here; resolves when the server has welcomed us. The
   * client reconnects and repeats unanswered calls; each takes effect exactly once. While the
   * server is away, calls wait for `callTimeout`.
   *
   * Several addresses are those of nodes of a cluster, of which one must answer: each call goes to
   * the node that owns what it is about, wherever that moves.
   */
  static override async connect(
    url: string | readonly string[],
    options: ServerOptions = {},
  ): Promise<Sluice> {
    const { tls, ...rest } = options;
    checkTls(tls);
    const clock = new SystemClock();
    const link = new LinkFeed();
    if (typeof url !== "string") {
      const port = await connectCluster(checkUrls(url), { ...rest, tls, onLink: link.tell });
      return new Sluice({ port, clock, link });
    }
    const port = await connectBroker(url, { ...rest, dial: dialWs(tls), onLink: link.tell });
    return new Sluice({ port, clock, failed: port.failure, link });
  }
}

function checkUrls(urls: unknown): readonly string[] {
  const isList = Array.isArray(urls) && urls.length > 0;
  if (isList && urls.every((url) => typeof url === "string" && URL.canParse(url))) return urls;
  const message = "connect.url must be the address of a server, or of several in a list";
  throw new SluiceError("INVALID", message, { field: "connect.url" });
}

/** The key is a secret: the refusal does not repeat it. */
function checkTls(tls: unknown): void {
  if (tls === undefined) return;
  const known = ["ca", "cert", "key"];
  const isObject = typeof tls === "object" && tls !== null;
  if (isObject && Object.keys(tls).every((name) => known.includes(name))) return checkPair(tls);
  const got = isObject ? Object.keys(tls).join(", ") : typeof tls;
  const message = `connect.tls must have ${known.join(", ")}, got ${got}`;
  throw new SluiceError("INVALID", message, { field: "connect.tls" });
}

/** A certificate without its key is not sent, and the server would refuse the connection. */
function checkPair({ cert, key }: ClientTls): void {
  if ((cert === undefined) === (key === undefined)) return;
  const [given, missing] = cert === undefined ? ["key", "cert"] : ["cert", "key"];
  const message = `connect.tls.${given} needs connect.tls.${missing}: give both, or neither`;
  throw new SluiceError("INVALID", message, { field: `connect.tls.${missing}` });
}

async function recover(
  log: Log,
  options: OpenOptions,
  onFailure: (error: SluiceError) => void,
): Promise<Broker> {
  const { dir: _dir, durability: _durability, ...rest } = options;
  const bar = new RecoveryBar(process.stderr);
  try {
    const onProgress = bar.show.bind(bar);
    return await openBroker({ ...defined(rest), log, onProgress, onFailure });
  } catch (error) {
    // A failed opening must not leave the log locked.
    await log.close().catch(() => {});
    throw error;
  } finally {
    bar.clear();
  }
}

/** Without the options that are undefined: the broker's defaults apply to them. */
function defined<T extends object>(options: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: NonNullable<T[K]> };
}
