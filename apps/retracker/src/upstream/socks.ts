/** A connection through a SOCKS5 proxy (RFC 1928, with the passwords of RFC 1929). */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { AnswerError } from "./outcome.ts";

const VERSION = 5;
const NO_PASSWORD = 0;
const PASSWORD = 2;
const CONNECT = 1;
const NAME = 3;
const ADDRESS_BYTES: Readonly<Record<number, number>> = { 1: 4, 4: 16 };

/** The name is looked up by the proxy, so that nothing about it leaves by another way. */
export async function connectBySocks(
  proxy: URL,
  host: string,
  port: number,
  signal: AbortSignal,
): Promise<Socket> {
  const bare = proxy.hostname.replace(/^\[|\]$/g, "");
  const socket = connect({ host: bare, port: Number(proxy.port) || 1080, signal });
  try {
    await once(socket, "connect", { signal });
    await greet(socket, proxy, signal);
    const name = Buffer.from(host, "latin1");
    const ends = Buffer.from([port >> 8, port & 0xff]);
    socket.write(
      Buffer.concat([Buffer.from([VERSION, CONNECT, 0, NAME, name.length]), name, ends]),
    );
    const head = await read(socket, 4, signal);
    if (head[1] !== 0) throw new AnswerError(`the proxy refused the connection (code ${head[1]})`);
    const bytes = ADDRESS_BYTES[head[3]!] ?? (await read(socket, 1, signal))[0]!;
    await read(socket, bytes + 2, signal);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function greet(socket: Socket, { username, password }: URL, signal: AbortSignal) {
  const method = username === "" ? NO_PASSWORD : PASSWORD;
  socket.write(Buffer.from([VERSION, 1, method]));
  const [version, chosen] = await read(socket, 2, signal);
  if (version !== VERSION || chosen !== method) {
    throw new AnswerError("the proxy wants another way to log in");
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
