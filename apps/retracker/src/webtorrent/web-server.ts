/**
 * The tracker over WebSocket. A connection is handed over by the HTTP server when a client asks for
 * it on an announce path. Bounded: bytes of a message, messages a second, hashes of a connection,
 * offers of an announce, and what waits to be sent; connections are bounded by the HTTP server.
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "sluice";
import { type WebSocket, WebSocketServer } from "ws";
import { Chore } from "../chore.ts";
import {
  WEB_MESSAGE_BYTES_MAX,
  WEB_MESSAGES_BURST,
  WEB_MESSAGES_PER_SECOND,
  WEB_UNSENT_BYTES_MAX,
} from "../limits.ts";
import type { CompletedCounts } from "../peers/completed-counts.ts";
import type { Settings } from "../settings/settings.ts";
import { AnnounceBucket } from "../upstream/announce-bucket.ts";
import type { Refused } from "../wire/announce.ts";
import { BadMessage, readMessage, type WebAnnounce, type WebScrape } from "./messages.ts";
import { type WebPeer, WebSwarms } from "./web-swarms.ts";

export interface WebServerOptions {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly completed: CompletedCounts;
  /** Whether a hash is served. */
  judge(hash: string): Refused | undefined;
  onError(error: unknown): void;
}

/** Undefined when the client may announce: a passkey may be revoked while it is connected. */
type Admit = () => Refused | undefined;

/** A connection that answers no ping within this time is closed. */
const PING_MS = 30_000;
/** Browsers come back sooner than others: an offer is good for a short time only. */
const INTERVAL_SHARE = 5;

export class WebServer {
  readonly swarms: WebSwarms;
  readonly #options: WebServerOptions;
  readonly #server: WebSocketServer;
  readonly #sockets = new Map<WebSocket, { isAlive: boolean }>();
  readonly #chore: Chore;
  announces = 0;

  constructor(options: WebServerOptions) {
    this.#options = options;
    this.swarms = new WebSwarms(options.settings.peers_per_hash);
    const maxPayload = WEB_MESSAGE_BYTES_MAX;
    this.#server = new WebSocketServer({ noServer: true, maxPayload, perMessageDeflate: false });
    const { clock, onError } = options;
    this.#chore = new Chore({ clock, everyMs: PING_MS, run: () => this.#ping(), onError });
  }

  /** Takes over a connection whose head has been read. `admit` is asked before each message. */
  upgrade(headers: Record<string, string>, url: string, socket: Socket, admit: Admit): void {
    const request = { method: "GET", headers, url } as unknown as IncomingMessage;
    const serve = (client: WebSocket): void => this.#serve(client, admit);
    this.#server.handleUpgrade(request, socket, Buffer.alloc(0), serve);
  }

  async close(): Promise<void> {
    await this.#chore.stop();
    for (const socket of this.#sockets.keys()) socket.terminate();
    this.#server.close();
  }

  #serve(socket: WebSocket, admit: Admit): void {
    const { clock, onError } = this.#options;
    const state = { isAlive: true };
    this.#sockets.set(socket, state);
    const peer: WebPeer = { hashes: new Map(), send: (message) => send(socket, message) };
    const now = clock.now();
    const bucket = new AnnounceBucket(WEB_MESSAGES_PER_SECOND, WEB_MESSAGES_BURST, now);
    socket.on("pong", () => (state.isAlive = true));
    socket.on("error", () => socket.terminate());
    socket.on("close", () => {
      this.#sockets.delete(socket);
      this.swarms.leaveAll(peer);
    });
    socket.on("message", (data: Buffer) => {
      state.isAlive = true;
      if (!bucket.take(clock.now())) return socket.close(1008, "too many messages");
      const refused = admit();
      if (refused !== undefined) {
        this.swarms.leaveAll(peer);
        peer.send({ "failure reason": refused.failure });
        return socket.close(1008, refused.failure);
      }
      this.#receive(peer, data.toString("utf8")).catch(onError);
    });
  }

  #ping(): void {
    for (const [socket, state] of this.#sockets) {
      if (!state.isAlive) socket.terminate();
      else {
        state.isAlive = false;
        socket.ping();
      }
    }
  }

  async #receive(peer: WebPeer, text: string): Promise<void> {
    try {
      const message = readMessage(text);
      if (message.action === "scrape") this.#scrape(peer, message);
      else await this.#announce(peer, message);
    } catch (error) {
      if (!(error instanceof BadMessage)) throw error;
      peer.send({ "failure reason": error.message });
    }
  }

  async #announce(peer: WebPeer, announce: WebAnnounce): Promise<void> {
    this.announces++;
    const { hash, peerId, isSeeder } = announce;
    const refuse = (reason: string): void =>
      peer.send({ action: "announce", info_hash: hash, "failure reason": reason });
    const refused = this.#options.judge(hash);
    if (refused !== undefined) return refuse(refused.failure);
    const wasSeeder = this.swarms.isSeeder(hash, peerId);
    if (announce.isStopped) this.swarms.leave(peer, hash);
    else {
      const problem = this.swarms.join(peer, hash, peerId, isSeeder || wasSeeder);
      if (problem !== undefined) return refuse(problem);
    }
    if (announce.isCompleted && !wasSeeder) await this.#options.completed.add(hash);
    if (announce.answer === undefined) this.#answer(peer, hash);
    if (!announce.isStopped) this.#relay(peer, announce);
  }

  #answer(peer: WebPeer, hash: string): void {
    const { announce_interval: seconds } = this.#options.settings;
    const interval = Math.ceil(seconds / INTERVAL_SHARE);
    peer.send({ action: "announce", interval, info_hash: hash, ...this.swarms.counts(hash) });
  }

  /** Each offer goes to another peer; an answer goes to the one whose offer it answers. */
  #relay(peer: WebPeer, { hash, peerId, offers, answer }: WebAnnounce): void {
    const shared = { action: "announce", info_hash: hash, peer_id: peerId };
    let next = 0;
    for (const other of this.swarms.others(hash, peer, offers.length)) {
      const { offer, offerId } = offers[next++]!;
      other.send({ ...shared, offer, offer_id: offerId });
    }
    if (answer === undefined) return;
    const to = this.swarms.find(hash, answer.to);
    to?.send({ ...shared, answer: answer.answer, offer_id: answer.offerId });
  }

  #scrape(peer: WebPeer, { hashes }: WebScrape): void {
    const files: Record<string, object> = Object.create(null);
    for (const hash of hashes) {
      files[hash] = { ...this.swarms.counts(hash), downloaded: this.#options.completed.of(hash) };
    }
    const flags = { min_request_interval: this.#options.settings.announce_interval };
    peer.send({ action: "scrape", files, flags });
  }
}

/** Who does not read what is sent to it is cut off. */
function send(socket: WebSocket, message: object): void {
  if (socket.readyState !== socket.OPEN) return;
  if (socket.bufferedAmount > WEB_UNSENT_BYTES_MAX) return socket.terminate();
  socket.send(JSON.stringify(message));
}
