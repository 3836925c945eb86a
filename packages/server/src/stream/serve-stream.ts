/** The stream on an HTTP server: connections in, within bounds, each to its session. */
import type { Server as HttpServer, IncomingMessage } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { Duplex } from "node:stream";
import { type Broker, type Clock, SluiceError, SystemClock } from "@sluice/protocol";
import {
  HANDSHAKE_MS,
  PARTITION_STREAMS_PER_ADDRESS_MAX,
  RESUME_MS,
  SILENCES_MAX,
  STREAM_HEARTBEAT_MS,
  STREAMS_MAX,
  STREAMS_PER_ADDRESS_MAX,
} from "../limits.ts";
import { endWith } from "../shell/broken.ts";
import { ThreadConnection } from "../threads/connection.ts";
import type { ServerSocket, StreamSocket } from "./session.ts";
import { Sessions } from "./sessions.ts";
import { newWebSockets, WsSocket } from "./ws-socket.ts";

export interface StreamOptions {
  /** Answers the port as the owner of this key may use it, or throws `UNAUTHORIZED`. */
  open(apiKey: string | undefined, request: IncomingMessage, client: string): Promise<Broker>;
  /** Refuses an upgrade before it happens: a status and a sentence. Default: by `Origin`. */
  refuse?: ((request: IncomingMessage) => Refusal | undefined) | undefined;
  /** Takes a stream that names a partition, `?partition=7`. Default: there are no partitions. */
  partition?:
    | ((partition: number, socket: ServerSocket, request: IncomingMessage) => void)
    | undefined;
  /** A connection is a stream from now on, and counted here. */
  onAccepted?: ((request: IncomingMessage) => void) | undefined;
  /** Default `/v1/stream`. */
  path?: string | undefined;
  /** How the server calls itself. */
  server?: string | undefined;
  /** How long the leases of a lost connection wait for it to come back. Default 2,000. */
  resumeMs?: number | undefined;
  heartbeatMs?: number | undefined;
  handshakeMs?: number | undefined;
  connectionsMax?: number | undefined;
  connectionsPerAddressMax?: number | undefined;
  partitionStreamsPerAddressMax?: number | undefined;
  clock?: Clock | undefined;
}

export interface Refusal {
  status: number;
  message: string;
}

export interface StreamServer {
  readonly connections: number;
  /** Sessions with a connection, and those that wait for theirs to come back. */
  readonly sessions: number;
  /** Cuts all connections and takes no more. Leases stay for workers that come back. */
  close(): void;
}

export function serveStream(
  httpServer: HttpServer | HttpsServer,
  options: StreamOptions,
): StreamServer {
  const stream = new StreamConnections(options);
  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    if (stream.upgrade(request, socket, head)) return;
    // Another path may have another listener; without one it is refused.
    if (httpServer.listenerCount("upgrade") > 1) return;
    refuseUpgrade(socket, { status: 404, message: "there is no stream at this path" });
  };
  httpServer.on("upgrade", upgrade);
  return {
    get connections() {
      return stream.connections;
    },
    get sessions() {
      return stream.sessions;
    },
    close: () => {
      httpServer.off("upgrade", upgrade);
      stream.close();
    },
  };
}

class StreamConnections {
  readonly #options: StreamOptions;
  readonly #sessions: Sessions<IncomingMessage>;
  readonly #perAddress = new Map<string, number>();
  readonly #partitionsPerAddress = new Map<string, number>();
  readonly #webSockets = newWebSockets();
  readonly #sockets = new Set<StreamSocket>();
  readonly #silenceMs: number;
  #isClosed = false;

  constructor(options: StreamOptions) {
    this.#options = options;
    const { heartbeatMs = STREAM_HEARTBEAT_MS } = options;
    this.#silenceMs = heartbeatMs * SILENCES_MAX;
    this.#sessions = new Sessions({
      open: async (apiKey, request, client) => ({
        broker: await options.open(apiKey, request, client),
        isNode: false,
      }),
      server: options.server ?? "sluice",
      resumeMs: options.resumeMs ?? RESUME_MS,
      heartbeatMs,
      handshakeMs: options.handshakeMs ?? HANDSHAKE_MS,
      clock: options.clock ?? new SystemClock(),
      defer: setImmediate,
    });
  }

  get connections(): number {
    return this.#sockets.size;
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  /** False when the path is not the stream's. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    const path = (request.url ?? "").replace(/\?.*/s, "");
    if (path !== (this.#options.path ?? "/v1/stream")) return false;
    const refusal = this.#refusal(request);
    if (refusal !== undefined) refuseUpgrade(socket, refusal);
    else if (socket instanceof ThreadConnection) {
      this.#accept(socket.upgrade(request, head), request);
    } else {
      this.#webSockets.handleUpgrade(request, socket, head, (ws) =>
        this.#accept(new WsSocket(ws, socket), request),
      );
    }
    return true;
  }

  #refusal(request: IncomingMessage): Refusal | undefined {
    const { connectionsMax = STREAMS_MAX, refuse = refuseOtherOrigin } = this.#options;
    if (this.#isClosed) return { status: 503, message: "the server is closing" };
    if (this.connections >= connectionsMax) {
      return { status: 503, message: `all ${connectionsMax} connections are in use` };
    }
    const partition = partitionOf(request);
    const [counts, most] = this.#countsOf(partition);
    if ((counts.get(addressOf(request)) ?? 0) >= most) {
      return { status: 429, message: `all ${most} connections of one address are in use` };
    }
    if (partition !== undefined && this.#options.partition === undefined) {
      return { status: 404, message: "this server has no partitions" };
    }
    if (Number.isNaN(partition)) return { status: 404, message: "there is no such partition" };
    return refuse(request);
  }

  /** How many streams of its kind each address has, and how many it may have. */
  #countsOf(partition: number | undefined): [Map<string, number>, number] {
    const { connectionsPerAddressMax = STREAMS_PER_ADDRESS_MAX } = this.#options;
    const { partitionStreamsPerAddressMax = PARTITION_STREAMS_PER_ADDRESS_MAX } = this.#options;
    return partition === undefined
      ? [this.#perAddress, connectionsPerAddressMax]
      : [this.#partitionsPerAddress, partitionStreamsPerAddressMax];
  }

  #accept(socket: StreamSocket, request: IncomingMessage): void {
    const address = addressOf(request);
    const partition = partitionOf(request);
    const [counts] = this.#countsOf(partition);
    counts.set(address, (counts.get(address) ?? 0) + 1);
    this.#options.onAccepted?.(request);
    this.#sockets.add(socket);
    const silence = setTimeout(() => socket.terminate(), this.#silenceMs);
    socket.onover = () => {
      this.#sockets.delete(socket);
      clearTimeout(silence);
      const left = counts.get(address)! - 1;
      if (left === 0) counts.delete(address);
      else counts.set(address, left);
    };
    socket.onheard = () => silence.refresh();
    if (partition === undefined) this.#sessions.accept(socket, request);
    else this.#options.partition!(partition, socket, request);
  }

  close(): void {
    this.#isClosed = true;
    this.#sessions.close();
    for (const socket of this.#sockets) socket.close(1001, "the server is closing");
    this.#webSockets.close();
  }
}

/** The partition that a stream is for; NaN when it cannot be one. */
function partitionOf({ url = "" }: IncomingMessage): number | undefined {
  const cut = url.indexOf("?");
  const text = cut < 0 ? null : new URLSearchParams(url.slice(cut)).get("partition");
  if (text === null) return undefined;
  return /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
}

function addressOf(request: IncomingMessage): string {
  return request.socket.remoteAddress ?? "";
}

/** A web page may open a stream only to the server that it came from. */
function refuseOtherOrigin({ headers }: IncomingMessage): Refusal | undefined {
  const { origin, host } = headers;
  if (origin === undefined || hostOf(origin) === host) return undefined;
  return { status: 403, message: "the page comes from another origin" };
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

function refuseUpgrade(socket: Duplex, { status, message }: Refusal): void {
  const code = status === 403 ? "FORBIDDEN" : status === 429 ? "RATE_LIMITED" : "CLOSED";
  endWith(socket, status, new SluiceError(code, message));
}
