/**
 * Announces to forwarders over UDP. There is one connected socket per forwarder while it is in use:
 * the system then drops what others send, and reports a closed port. Its connection id is
 * used for a minute at most.
 */
import { randomInt } from "node:crypto";
import { createSocket, type Socket } from "node:dgram";
import { CONNECTION_ID_CLIENT_MS } from "../limits.ts";
import { ANNOUNCE, announceRequest, CONNECT, connectRequest, ERROR } from "../udp/packets.ts";
import { packAddress } from "../wire/address.ts";
import type { Sending } from "./http-announce.ts";
import { addressesOf, type LookupRules } from "./lookup.ts";
import { AnswerError, type Outcome, ofError } from "./outcome.ts";
import { boundInterval, entries } from "./read-answer.ts";

/** A packet may get lost: it is sent again once, as late as BEP 15 says. */
const RESEND_MS = 15_000;
const ANSWER_HEAD_BYTES = 20;

interface Exchange {
  readonly action: number;
  resolve(packet: Buffer): void;
  reject(error: Error): void;
}

export class UdpAnnouncer {
  readonly #channels = new Map<string, Promise<UdpChannel>>();

  async announce(sending: Sending): Promise<Outcome> {
    const { hostname, port, pathname, search } = new URL(sending.spec.uri);
    const path = pathname + search;
    try {
      const { ownPorts } = sending;
      const { isPublicOnly } = sending.spec;
      const channel = await this.#channel(hostname, { port: Number(port), ownPorts, isPublicOnly });
      return await channel.announce(sending, path === "/" ? "" : path);
    } catch (error) {
      return ofError(error);
    }
  }

  async close(): Promise<void> {
    for (const channel of this.#channels.values()) (await channel.catch(() => undefined))?.close();
  }

  #channel(host: string, rules: LookupRules): Promise<UdpChannel> {
    const { port, isPublicOnly } = rules;
    const key = `${host}:${port}:${isPublicOnly}`;
    const known = this.#channels.get(key);
    if (known !== undefined) return known;
    const forget = (): void => void this.#channels.delete(key);
    const made = addressesOf(host, rules).then((found) => UdpChannel.open(found[0]!, port, forget));
    this.#channels.set(key, made);
    made.catch(forget);
    return made;
  }
}

/** An error packet. */
class RefusedError extends AnswerError {}

class UdpChannel {
  readonly #socket: Socket;
  readonly #isV4: boolean;
  readonly #onClosed: () => void;
  readonly #exchanges = new Map<number, Exchange>();
  #connectionId: Promise<Buffer> | undefined = undefined;
  #timer: NodeJS.Timeout | undefined = undefined;

  private constructor(socket: Socket, isV4: boolean, onClosed: () => void) {
    this.#socket = socket;
    this.#isV4 = isV4;
    this.#onClosed = onClosed;
    socket.on("message", (packet) => this.#receive(packet));
    socket.on("error", (error) => this.#fail(error));
    this.#renew();
  }

  static open(
    { address, family }: { address: string; family: number },
    port: number,
    onClosed: () => void,
  ): Promise<UdpChannel> {
    const socket = createSocket(family === 4 ? "udp4" : "udp6");
    socket.unref();
    return new Promise((resolve, reject) => {
      socket.once("error", reject);
      socket.connect(port, address, () => {
        socket.off("error", reject);
        resolve(new UdpChannel(socket, family === 4, onClosed));
      });
    });
  }

  /** A tracker that was restarted knows no id of before: then one more is asked for, at once. */
  async announce(sending: Sending, path: string): Promise<Outcome> {
    const wasConnected = this.#connectionId !== undefined;
    try {
      return await this.#announceOnce(sending, path);
    } catch (error) {
      const isOfId = error instanceof RefusedError && /connection/i.test(error.message);
      if (!wasConnected || !isOfId) throw error;
      return await this.#announceOnce(sending, path);
    }
  }

  async #announceOnce({ spec, announce, signal }: Sending, path: string): Promise<Outcome> {
    const connectionId = await this.#connect(signal);
    const ip = spec.ip === undefined ? undefined : packAddress(spec.ip);
    const packet = await this.#exchange(ANNOUNCE, signal, (transaction) =>
      announceRequest({
        connectionId,
        transaction,
        announce,
        // On IPv6 the field must be 0.
        ip: this.#isV4 && ip?.length === 4 ? ip : undefined,
        path,
      }),
    );
    if (packet.length < ANSWER_HEAD_BYTES) throw new AnswerError("a UDP answer that is too short");
    const peers = entries(packet.subarray(ANSWER_HEAD_BYTES), this.#isV4 ? 6 : 18);
    return {
      kind: "answer",
      intervalSeconds: boundInterval(packet.readUInt32BE(8)),
      incomplete: packet.readUInt32BE(12),
      complete: packet.readUInt32BE(16),
      v4: this.#isV4 ? peers : Buffer.alloc(0),
      v6: this.#isV4 ? Buffer.alloc(0) : peers,
      trackerId: undefined,
      externalIp: undefined,
    };
  }

  close(): void {
    this.#fail(Object.assign(new Error("closed"), { code: "ECANCELED" }));
  }

  /** Announces that arrive meanwhile share the request for an id. */
  async #connect(signal: AbortSignal): Promise<Buffer> {
    this.#connectionId ??= this.#exchange(CONNECT, signal, connectRequest).then((packet) => {
      if (packet.length < 16) throw new AnswerError("a connection id that is too short");
      this.#renew();
      return packet.subarray(8, 16);
    });
    try {
      return await this.#connectionId;
    } catch (error) {
      this.#connectionId = undefined;
      throw error;
    }
  }

  /** A minute after the id was given, the channel has no more use. */
  #renew(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#expire(), CONNECTION_ID_CLIENT_MS).unref();
  }

  #expire(): void {
    this.#onClosed();
    if (this.#exchanges.size > 0) {
      // Those that are on their way may end; no new call finds this channel.
      this.#timer = setTimeout(() => this.#expire(), CONNECTION_ID_CLIENT_MS).unref();
    } else this.close();
  }

  async #exchange(
    action: number,
    signal: AbortSignal,
    request: (transaction: number) => Buffer,
  ): Promise<Buffer> {
    signal.throwIfAborted();
    const transaction = randomInt(2 ** 32);
    const packet = request(transaction);
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    this.#exchanges.set(transaction, { action, resolve, reject });
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
    const send = (): void => this.#socket.send(packet, (error) => error && this.#fail(error));
    const resend = setTimeout(send, RESEND_MS).unref();
    send();
    try {
      return await promise;
    } finally {
      clearTimeout(resend);
      signal.removeEventListener("abort", abort);
      this.#exchanges.delete(transaction);
    }
  }

  /** What belongs to no exchange is nothing that we asked for. */
  #receive(packet: Buffer): void {
    if (packet.length < 8) return;
    const exchange = this.#exchanges.get(packet.readUInt32BE(4));
    if (exchange === undefined) return;
    const action = packet.readUInt32BE(0);
    if (action === exchange.action) exchange.resolve(packet);
    else if (action === ERROR) exchange.reject(this.#refused(packet));
  }

  /** The id may have been what it did not like. */
  #refused(packet: Buffer): Error {
    this.#connectionId = undefined;
    return new RefusedError(packet.toString("utf8", 8) || "an error without a text");
  }

  #fail(error: Error): void {
    clearTimeout(this.#timer);
    this.#onClosed();
    for (const exchange of this.#exchanges.values()) exchange.reject(error);
    this.#socket.removeAllListeners("error").on("error", () => {});
    try {
      this.#socket.close();
    } catch {
      // It was closed already.
    }
  }
}
