/**
 * Announces to forwarders over UDP. There is one channel for each forwarder and proxy while it is
 * in use; its connection id is used for a minute at most.
 */
import { randomInt } from "node:crypto";
import { isIP } from "node:net";
import { CONNECTION_ID_CLIENT_MS } from "../limits.ts";
import { ANNOUNCE, announceRequest, CONNECT, connectRequest, ERROR } from "../udp/packets.ts";
import { packAddress } from "../wire/address.ts";
import type { Sending } from "./http-announce.ts";
import { addressesOf, type LookupRules } from "./lookup.ts";
import { AnswerError, type Outcome, ofError } from "./outcome.ts";
import { openBySocks, openDirect, type PacketPath } from "./packet-path.ts";
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
      const { ownPorts, signal } = sending;
      const { isPublicOnly, proxy } = sending.spec;
      const rules = { port: Number(port), ownPorts, isPublicOnly };
      const channel = await this.#channel(hostname, rules, proxy, signal);
      return await channel.announce(sending, path === "/" ? "" : path);
    } catch (error) {
      return ofError(error);
    }
  }

  async close(): Promise<void> {
    for (const channel of this.#channels.values()) (await channel.catch(() => undefined))?.close();
  }

  /** Announces that arrive while it is being opened share it, and the time of the first one. */
  #channel(
    host: string,
    rules: LookupRules,
    proxy: string | undefined,
    signal: AbortSignal,
  ): Promise<UdpChannel> {
    const key = `${host}:${rules.port}:${rules.isPublicOnly}:${proxy ?? ""}`;
    const known = this.#channels.get(key);
    if (known !== undefined) return known;
    const forget = (): void => void this.#channels.delete(key);
    const made = openPath(host, rules, proxy, signal).then((path) => new UdpChannel(path, forget));
    this.#channels.set(key, made);
    made.catch(forget);
    return made;
  }
}

/** A proxy looks names up itself; what is an address already must not be our own. */
async function openPath(
  host: string,
  rules: LookupRules,
  proxy: string | undefined,
  signal: AbortSignal,
): Promise<PacketPath> {
  const { port } = rules;
  if (proxy === undefined) return openDirect((await addressesOf(host, rules))[0]!.address, port);
  if (isIP(host.replace(/^\[|\]$/g, "")) > 0) await addressesOf(host, rules);
  return openBySocks(proxy, host, port, signal);
}

/** An error packet. */
class RefusedError extends AnswerError {}

class UdpChannel {
  readonly #path: PacketPath;
  readonly #onClosed: () => void;
  readonly #exchanges = new Map<number, Exchange>();
  #connectionId: Promise<Buffer> | undefined = undefined;
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(path: PacketPath, onClosed: () => void) {
    this.#path = path;
    this.#onClosed = onClosed;
    path.listen({
      packet: (packet) => this.#receive(packet),
      failed: (error) => this.#fail(error),
    });
    this.#renew();
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
    const { isV4 } = this.#path;
    const packet = await this.#exchange(ANNOUNCE, signal, (transaction) =>
      announceRequest({
        connectionId,
        transaction,
        announce,
        // On IPv6 the field must be 0.
        ip: isV4 && ip?.length === 4 ? ip : undefined,
        path,
      }),
    );
    if (packet.length < ANSWER_HEAD_BYTES) throw new AnswerError("a UDP answer that is too short");
    const peers = entries(packet.subarray(ANSWER_HEAD_BYTES), isV4 ? 6 : 18);
    return {
      kind: "answer",
      intervalSeconds: boundInterval(packet.readUInt32BE(8)),
      incomplete: packet.readUInt32BE(12),
      complete: packet.readUInt32BE(16),
      v4: isV4 ? peers : Buffer.alloc(0),
      v6: isV4 ? Buffer.alloc(0) : peers,
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
    const send = (): void => this.#path.send(packet);
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
    this.#path.close();
  }
}
