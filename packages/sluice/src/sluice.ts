import {
  type ConnectOptions,
  LinkFeed,
  loadTracing,
  SluiceHandles,
  type SluiceParts,
  type Transaction,
} from "@sluice/client";
import { connectBroker } from "@sluice/client/remote";
import type { ClientTls } from "@sluice/client/ws";
import { checkOpen, invalid, type OpenOptions, SluiceError, SystemClock } from "@sluice/protocol";
import { Outbox } from "./postgres/outbox.ts";
import { checkRuntime } from "./runtime.ts";

export interface ServerOptions extends ConnectOptions {
  /** For a server whose authority Node does not know, or that asks for a certificate. */
  tls?: ClientTls | undefined;
}

/** A durable job queue, in this process or on a server. */
export class Sluice extends SluiceHandles {
  private constructor(parts: SluiceParts) {
    super(parts);
  }

  /** Opens a directory, or a queue in memory; what the log holds is there when it resolves. */
  static async open(options: OpenOptions = {}): Promise<Sluice> {
    checkRuntime(process.versions.node);
    checkOpen(options);
    const clock = options.clock ?? new SystemClock();
    // A program that only connects never loads a broker.
    const { openEmbedded } = await import("./embedded.ts");
    const [opened, tracing] = await Promise.all([
      openEmbedded({ ...options, clock }),
      loadTracing(),
    ]);
    return new Sluice({ ...opened, clock, tracing, inProcess: true });
  }

  /**
   * Adds within a transaction of PostgreSQL: `sluice.in(tx).add("mail", payload)`. The job exists
   * when the transaction has committed, and only then; a relay moves it here.
   */
  in(tx: Transaction): Outbox {
    return new Outbox(tx);
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
    checkRuntime(process.versions.node);
    const { tls, ...rest } = options;
    checkTls(tls);
    const clock = new SystemClock();
    const link = new LinkFeed();
    if (typeof url !== "string") {
      const { connectCluster } = await import("@sluice/cluster/client");
      const port = await connectCluster(checkUrls(url), { ...rest, tls, onLink: link.tell });
      return new Sluice({ port, clock, link });
    }
    const { dialWs } = await import("@sluice/client/ws");
    const port = await connectBroker(url, { ...rest, dial: dialWs(tls), onLink: link.tell });
    return new Sluice({ port, clock, failed: port.failure, link });
  }
}

function checkUrls(urls: unknown): readonly string[] {
  const isList = Array.isArray(urls) && urls.length > 0;
  if (isList && urls.every((url) => typeof url === "string" && URL.canParse(url))) return urls;
  const wanted = 'the address of a server, such as "http://127.0.0.1:7070", or a list of them';
  throw invalid("connect.url", wanted, urls);
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
