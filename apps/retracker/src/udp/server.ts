/** The tracker over UDP (BEP 15), with a socket per address family: an answer has peers of one. */
import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { lookup } from "node:dns/promises";
import { type BlockList, isIP } from "node:net";
import type { Clock } from "sluice";
import { UDP_ERROR_ADDRESSES_MAX, UDP_ERRORS_PER_SECOND } from "../limits.ts";
import { type Accepted, isRefused, type Tracker } from "../tracker.ts";
import { isWithin, packAddress } from "../wire/address.ts";
import type { Refused } from "../wire/announce.ts";
import { ConnectionIds } from "./connection-ids.ts";
import {
  ANNOUNCE,
  announceAnswer,
  CONNECT,
  CONNECT_BYTES,
  connectAnswer,
  errorAnswer,
  MAGIC_HIGH,
  MAGIC_LOW,
  peersThatFit,
  readAnnounce,
  readScrape,
  SCRAPE,
  scrapeAnswer,
} from "./packets.ts";

export interface UdpServerOptions {
  readonly tracker: Tracker;
  readonly clock: Clock;
  /** Whose claim of an address is believed. */
  readonly trusted: BlockList | undefined;
  /** Undefined when who sent this packet may announce. */
  admit(packet: Buffer): Refused | undefined;
  /** The same for a scrape, which has no place for a key. */
  admitScrape(): Refused | undefined;
  /** Whether this address may ask once more now. */
  pace(address: string): boolean;
  onError(error: unknown): void;
}

/** What the system may hold of packets that were not read yet. */
const RECEIVE_BYTES = 4 * 1024 * 1024;

export class UdpServer {
  readonly #options: UdpServerOptions;
  readonly #ids = new ConnectionIds();
  #sockets: Socket[] = [];
  #errors = new Map<string, number>();
  #errorsSecond = 0;
  /** Packets that were not answered. */
  ignored = 0;

  constructor(options: UdpServerOptions) {
    this.#options = options;
  }

  /** Without a host: all addresses, of IPv6 too where there is any. Answers the port. */
  async listen(host: string | undefined, port: number): Promise<number> {
    const hosts = host === undefined ? ["0.0.0.0", "::"] : await addressesOf(host);
    let bound = port;
    for (const [index, one] of hosts.entries()) {
      try {
        const socket = await open(one, bound);
        bound = socket.address().port;
        this.#serve(socket);
      } catch (error) {
        // A machine without IPv6 is served over IPv4.
        if (index === 0 || (error as { code?: string }).code === "EADDRINUSE") throw error;
      }
    }
    return bound;
  }

  async close(): Promise<void> {
    const closing = this.#sockets.map((socket) => new Promise<void>((done) => socket.close(done)));
    this.#sockets = [];
    await Promise.all(closing);
  }

  #serve(socket: Socket): void {
    this.#sockets.push(socket);
    socket.on("error", (error) => this.#options.onError(error));
    socket.on("message", (packet, from) => {
      try {
        this.#receive(socket, packet, from);
      } catch (error) {
        this.#options.onError(error);
      }
    });
  }

  #receive(socket: Socket, packet: Buffer, from: RemoteInfo): void {
    const address = packet.length < CONNECT_BYTES ? undefined : packAddress(from.address);
    if (address === undefined || from.port === 0) return this.#ignore();
    const second = Math.floor(this.#options.clock.now() / 1000);
    const action = packet.readUInt32BE(8);
    const transaction = packet.readUInt32BE(12);
    if (action === CONNECT) {
      const isMagic = packet.readUInt32BE(0) === MAGIC_HIGH && packet.readUInt32BE(4) === MAGIC_LOW;
      if (!isMagic) return this.#ignore();
      return send(socket, connectAnswer(transaction, this.#ids.give(address, second)), from);
    }
    if (!this.#ids.isGood(packet, address, second)) {
      return this.#refuse(socket, packet, from, "connection id expired", second);
    }
    if (!this.#options.pace(address)) return this.#ignore();
    if (action === ANNOUNCE) this.#announce(socket, packet, from, address);
    else if (action === SCRAPE) this.#scrape(socket, packet, from, second);
    else this.#refuse(socket, packet, from, "unknown action", second);
  }

  #announce(socket: Socket, packet: Buffer, from: RemoteInfo, address: string): void {
    const announce = readAnnounce(packet, address);
    if (announce === undefined) {
      const second = Math.floor(this.#options.clock.now() / 1000);
      return this.#refuse(socket, packet, from, "bad announce: too short, or port 0", second);
    }
    const { claimedIp } = announce;
    if (claimedIp !== 0 && address.length === 4 && this.#isTrusted(address)) {
      announce.address = packet.toString("latin1", 84, 88);
    }
    const transaction = packet.readUInt32BE(12);
    const refused = this.#options.admit(packet);
    if (refused !== undefined) {
      return send(socket, errorAnswer(transaction, refused.failure, 1024), from);
    }
    const answer = this.#options.tracker.announce(announce);
    const isV4 = from.family === "IPv4";
    if (!(answer instanceof Promise)) return this.#answer(socket, from, transaction, answer, isV4);
    answer.then(
      (later) => this.#answer(socket, from, transaction, later, isV4),
      (error) => this.#options.onError(error),
    );
  }

  #answer(
    socket: Socket,
    from: RemoteInfo,
    transaction: number,
    answer: Accepted | Refused,
    isV4: boolean,
  ): void {
    // The client has shown a connection id, so an answer may be longer than its request.
    if (isRefused(answer)) {
      return send(socket, errorAnswer(transaction, answer.failure, 1024), from);
    }
    const { tracker } = this.#options;
    const want = Math.min(answer.announce.numwant, peersThatFit(isV4 ? 6 : 18));
    const peers = tracker.peers(answer, isV4, want);
    const { complete, incomplete } = answer;
    const interval = tracker.intervalOf(answer.announce);
    send(socket, announceAnswer(transaction, { interval, complete, incomplete, peers }), from);
  }

  #scrape(socket: Socket, packet: Buffer, from: RemoteInfo, second: number): void {
    const { tracker } = this.#options;
    const refused = this.#options.admitScrape();
    if (refused !== undefined) return this.#refuse(socket, packet, from, refused.failure, second);
    tracker.scrapes++;
    const hashes = readScrape(packet);
    if (hashes === undefined) return this.#refuse(socket, packet, from, "no hash", second);
    const counts = hashes.map((hash) => tracker.scrape(hash));
    send(socket, scrapeAnswer(packet.readUInt32BE(12), counts), from);
  }

  #isTrusted(address: string): boolean {
    const { trusted } = this.#options;
    return trusted !== undefined && isWithin(trusted, address);
  }

  /** Never more bytes than came, and not many a second: a forged address gains nothing. */
  #refuse(socket: Socket, packet: Buffer, from: RemoteInfo, text: string, second: number): void {
    if (second !== this.#errorsSecond) {
      this.#errorsSecond = second;
      this.#errors = new Map();
    }
    const sent = this.#errors.get(from.address) ?? 0;
    const isKnown = sent > 0 || this.#errors.size < UDP_ERROR_ADDRESSES_MAX;
    if (sent >= UDP_ERRORS_PER_SECOND || !isKnown) return this.#ignore();
    this.#errors.set(from.address, sent + 1);
    send(socket, errorAnswer(packet.readUInt32BE(12), text, packet.length), from);
  }

  #ignore(): void {
    this.ignored++;
  }
}

/** Without a callback errors are ignored: a client that got no answer asks again. */
function send(socket: Socket, packet: Buffer, to: RemoteInfo): void {
  socket.send(packet, to.port, to.address);
}

/** A name may have an address of each family. */
async function addressesOf(host: string): Promise<string[]> {
  if (isIP(host) > 0) return [host];
  return [...new Set((await lookup(host, { all: true })).map(({ address }) => address))];
}

async function open(host: string, port: number): Promise<Socket> {
  const isV6 = host.includes(":");
  const socket = createSocket({
    type: isV6 ? "udp6" : "udp4",
    ipv6Only: isV6,
    recvBufferSize: RECEIVE_BYTES,
    // Every address here is one already; looking it up would cost a turn of the loop.
    lookup: (address, _options, done) => done(null, address, isV6 ? 6 : 4),
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.bind({ port, address: host, exclusive: true }, () => {
      socket.off("error", reject);
      resolve();
    });
  });
  return socket;
}
