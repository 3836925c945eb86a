/**
 * SOCKS5 (RFC 1928, with the passwords of RFC 1929): a connection through the proxy, or a relay for
 * packets of UDP. The proxy looks up the forwarder's name, so that nothing about it leaves by
 * another way.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { packAddress, showAddress } from "../wire/address.ts";
import { AnswerError } from "./outcome.ts";

const VERSION = 5;
const NO_PASSWORD = 0;
const PASSWORD = 2;
const CONNECT = 1;
const UDP_ASSOCIATE = 3;
const IPV4 = 1;
const NAME = 3;
const IPV6 = 4;
const ADDRESS_BYTES: Readonly<Record<number, number>> = { [IPV4]: 4, [IPV6]: 16 };
const COMMAND_NOT_SUPPORTED = 7;

/** Before each packet: two zeros, the number of the fragment, the type of the address. */
const PACKET_HEAD_BYTES = 4;

export interface Relay {
  /** The proxy relays for as long as this connection is open. */
  readonly control: Socket;
  /** Where packets are sent to. */
  readonly address: string;
  readonly port: number;
}

export async function connectBySocks(
  proxy: URL,
  host: string,
  port: number,
  signal: AbortSignal,
): Promise<Socket> {
  const { socket } = await ask(proxy, CONNECT, targetOf(host, port), signal);
  return socket;
}

/** Asks for a relay. An address of all zeros means that of the proxy itself. */
export async function associateBySocks(proxy: URL, signal: AbortSignal): Promise<Relay> {
  // The port that we shall send from is not known yet, which zeros say.
  const { socket, bound } = await ask(proxy, UDP_ASSOCIATE, targetOf("0.0.0.0", 0), signal);
  const isAny = /^\0*$/.test(bound.address);
  const address = isAny ? (socket.remoteAddress ?? "") : showAddress(bound.address);
  return { control: socket, address, port: bound.port };
}

/** Type, address and port, as requests and packets carry them. */
export function targetOf(host: string, port: number): Buffer {
  const bare = host.replace(/^\[|\]$/g, "");
  const packed = packAddress(bare);
  const address = Buffer.from(packed ?? bare, "latin1");
  if (address.length > 255) throw new AnswerError("the name of the forwarder is too long");
  const head = packed === undefined ? [NAME, address.length] : [packed.length === 4 ? IPV4 : IPV6];
  return Buffer.concat([Buffer.from(head), address, Buffer.from([port >> 8, port & 0xff])]);
}

export function wrapPacket(target: Buffer, packet: Buffer): Buffer {
  return Buffer.concat([Buffer.alloc(PACKET_HEAD_BYTES - 1), target, packet]);
}

export interface Unwrapped {
  /** Undefined when the proxy names the sender instead of giving its address. */
  readonly isV4: boolean | undefined;
  readonly packet: Buffer;
}

/** Undefined for what is malformed or a fragment: no answer of a tracker needs one. */
export function unwrapPacket(bytes: Buffer): Unwrapped | undefined {
  if (bytes.length <= PACKET_HEAD_BYTES || bytes[2] !== 0) return undefined;
  const type = bytes[3]!;
  const named = type === NAME ? 1 + bytes[PACKET_HEAD_BYTES]! : undefined;
  const addressBytes = ADDRESS_BYTES[type] ?? named;
  if (addressBytes === undefined) return undefined;
  const start = PACKET_HEAD_BYTES + addressBytes + 2;
  if (bytes.length < start) return undefined;
  return { isV4: type === NAME ? undefined : type === IPV4, packet: bytes.subarray(start) };
}

interface Asked {
  readonly socket: Socket;
  /** What the proxy has opened for us; empty when it is a name. */
  readonly bound: { readonly address: string; readonly port: number };
}

async function ask(
  proxy: URL,
  command: number,
  target: Buffer,
  signal: AbortSignal,
): Promise<Asked> {
  const bare = proxy.hostname.replace(/^\[|\]$/g, "");
  const socket = connect({ host: bare, port: Number(proxy.port) || 1080 });
  // Between two steps nothing else listens. The next step finds the connection closed.
  socket.on("error", () => {});
  try {
    await once(socket, "connect", { signal });
    await greet(socket, proxy, signal);
    socket.write(Buffer.concat([Buffer.from([VERSION, command, 0]), target]));
    return { socket, bound: await readReply(socket, signal) };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function readReply(socket: Socket, signal: AbortSignal): Promise<Asked["bound"]> {
  const head = await read(socket, 4, signal);
  const code = head[1]!;
  if (code === COMMAND_NOT_SUPPORTED) throw new AnswerError("the proxy does not relay UDP");
  if (code !== 0) throw new AnswerError(`the proxy refused the connection (code ${code})`);
  const type = head[3]!;
  const bytes = ADDRESS_BYTES[type] ?? (await read(socket, 1, signal))[0]!;
  const rest = await read(socket, bytes + 2, signal);
  const address = type === NAME ? "" : rest.toString("latin1", 0, bytes);
  return { address, port: rest.readUInt16BE(bytes) };
}

async function greet(socket: Socket, { username, password }: URL, signal: AbortSignal) {
  const method = username === "" ? NO_PASSWORD : PASSWORD;
  socket.write(Buffer.from([VERSION, 1, method]));
  const [version, chosen] = await read(socket, 2, signal);
  if (version !== VERSION || chosen !== method) {
    throw new AnswerError("the proxy requires another way to log in");
  }
  if (method === NO_PASSWORD) return;
  const [user, secret] = [username, password].map((text) => Buffer.from(decodeURIComponent(text)));
  const parts = [Buffer.from([1, user!.length]), user!, Buffer.from([secret!.length]), secret!];
  socket.write(Buffer.concat(parts));
  const [, status] = await read(socket, 2, signal);
  if (status !== 0) throw new AnswerError("the proxy refused the password");
}

async function read(socket: Socket, bytes: number, signal: AbortSignal): Promise<Buffer> {
  for (;;) {
    const chunk = socket.read(bytes) as Buffer | null;
    if (chunk !== null) return chunk;
    if (socket.readableEnded || socket.destroyed) throw new AnswerError("the proxy closed");
    await Promise.race([once(socket, "readable", { signal }), once(socket, "end", { signal })]);
  }
}
