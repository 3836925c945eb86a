/**
 * The way that packets take to one forwarder and back: a connected socket, for which the system
 * drops what others send and reports a closed port, or the relay of a SOCKS5 proxy.
 */
import { createSocket, type Socket } from "node:dgram";
import type { Socket as Connection } from "node:net";
import { associateBySocks, targetOf, unwrapPacket, wrapPacket } from "./socks.ts";

export interface PathEvents {
  packet(packet: Buffer): void;
  /** The path is of no more use. */
  failed(error: Error): void;
}

export interface PacketPath {
  /** The family of the forwarder's address. By a proxy it is known when a packet has come back. */
  readonly isV4: boolean;
  listen(events: PathEvents): void;
  send(packet: Buffer): void;
  close(): void;
}

export async function openDirect(address: string, port: number): Promise<PacketPath> {
  const isV4 = !address.includes(":");
  const socket = await openSocket(address, port);
  let events: PathEvents | undefined;
  return {
    isV4,
    listen(given) {
      events = given;
      socket.on("message", (packet) => given.packet(packet));
      socket.on("error", (error) => given.failed(error));
    },
    send: (packet) => socket.send(packet, (error) => error && events?.failed(error)),
    close: () => closeSocket(socket),
  };
}

/** The relay ends with the connection to the proxy that asked for it. */
export async function openBySocks(
  proxy: string,
  host: string,
  port: number,
  signal: AbortSignal,
): Promise<PacketPath> {
  const relay = await associateBySocks(new URL(proxy), signal);
  const { control } = relay;
  const socket = await openSocket(relay.address, relay.port).catch((error: unknown) => {
    control.destroy();
    throw error;
  });
  if (control.destroyed) {
    socket.close();
    throw relayEnded();
  }
  return new SocksPath(socket, control, targetOf(host, port));
}

class SocksPath implements PacketPath {
  readonly #socket: Socket;
  readonly #control: Connection;
  readonly #target: Buffer;
  #events: PathEvents | undefined = undefined;
  isV4 = true;

  constructor(socket: Socket, control: Connection, target: Buffer) {
    this.#socket = socket;
    this.#control = control;
    this.#target = target;
  }

  listen(events: PathEvents): void {
    this.#events = events;
    this.#socket.on("message", (bytes) => this.#receive(bytes));
    this.#socket.on("error", (error) => events.failed(error));
    this.#control.resume().unref();
    this.#control.on("close", () => events.failed(relayEnded()));
  }

  send(packet: Buffer): void {
    const bytes = wrapPacket(this.#target, packet);
    this.#socket.send(bytes, (error) => error && this.#events?.failed(error));
  }

  close(): void {
    this.#control.removeAllListeners("close").destroy();
    closeSocket(this.#socket);
  }

  #receive(bytes: Buffer): void {
    const unwrapped = unwrapPacket(bytes);
    if (unwrapped === undefined) return;
    this.isV4 = unwrapped.isV4 ?? this.isV4;
    this.#events?.packet(unwrapped.packet);
  }
}

function openSocket(address: string, port: number): Promise<Socket> {
  const socket = createSocket(address.includes(":") ? "udp6" : "udp4");
  socket.unref();
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.connect(port, address, () => {
      socket.off("error", reject);
      resolve(socket);
    });
  });
}

function closeSocket(socket: Socket): void {
  socket.removeAllListeners("error").on("error", () => {});
  try {
    socket.close();
  } catch {
    // It was closed already.
  }
}

/** Without a code: the announce is tried again. */
const relayEnded = (): Error => new Error("the proxy ended its relay");
