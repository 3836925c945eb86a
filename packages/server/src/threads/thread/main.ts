/**
 * The program of a thread that holds connections: sockets, TLS and WebSocket. It decides nothing
 * about them; what they bring goes to the main thread, and what the main thread says is done.
 */
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { parentPort, workerData } from "node:worker_threads";
import { FrameReader } from "@sluice/protocol/wire";
import { UNTAKEN_BYTES_MAX } from "../../limits.ts";
import { newWebSockets } from "../../stream/ws-socket.ts";
import type { FromThread, ListenAt, ThreadData, ToThread } from "../messages.ts";
import { bodyOf, numberOf, PACKET, PacketPort } from "../packets.ts";
import { Accepted } from "./accepted.ts";

const { tls, connectionsMax } = workerData as ThreadData;
const main = parentPort!;
const port = new PacketPort(main);
const webSockets = newWebSockets();
const connections = new Map<number, Accepted>();
let last = 0;
let isHeld = false;

const server = newServer();
server.maxConnections = connectionsMax;
server.on("error", (error: NodeJS.ErrnoException) => {
  say({ kind: "refused", code: error.code ?? "", message: error.message });
});

function newServer(): Server {
  // As Node's own servers of HTTP and HTTPS have it.
  if (tls === undefined) {
    const options = { allowHalfOpen: true, noDelay: true };
    return createServer(options, (socket) => accept(socket).ready(socket));
  }
  // With TLS there are two sockets for a connection, whose other end is the same.
  const secret = new Map<string, Accepted>();
  const secured = createTlsServer({ ...tls, noDelay: true, ALPNProtocols: ["http/1.1"] });
  secured.on("connection", (socket: Socket) => {
    const end = endOf(socket);
    secret.set(end, accept(socket));
    socket.once("close", () => secret.delete(end));
  });
  secured.on("secureConnection", (socket) => secret.get(endOf(socket))?.ready(socket));
  // A client without a certificate, or with plain HTTP: no answer is possible.
  secured.on("tlsClientError", (_, socket) => socket.destroy());
  return secured;
}

function endOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function accept(socket: Socket): Accepted {
  do last = (last + 1) >>> 0;
  while (connections.has(last));
  const id = last;
  const onGone = (): void => void connections.delete(id);
  const accepted = new Accepted({ id, port, webSockets, raw: socket, onGone });
  connections.set(id, accepted);
  if (isHeld) accepted.hold(true);
  return accepted;
}

/** Reads no more while the main thread has not handled what is on its way to it. */
function look(): void {
  const isMuch = port.untakenBytes >= (isHeld ? UNTAKEN_BYTES_MAX / 2 : UNTAKEN_BYTES_MAX);
  if (isMuch === isHeld) return;
  isHeld = isMuch;
  for (const accepted of connections.values()) accepted.hold(isMuch);
}

function take(batch: Uint8Array): void {
  const reader = new FrameReader(batch);
  while (reader.next()) {
    const { kind, operation: id } = reader;
    const body = bodyOf(reader, batch);
    if (kind === PACKET.took) port.untakenBytes -= numberOf(body);
    else if (kind === PACKET.asked) port.send(PACKET.answered, 0);
    else connections.get(id)?.handle(kind, body);
  }
  look();
}

function listen({ host, port: wanted, isShared }: ListenAt): void {
  server.listen({ host, port: wanted, ...(isShared ? { reusePort: true } : {}) }, () => {
    const { address, port: got } = server.address() as { address: string; port: number };
    say({ kind: "listening", address, port: got });
  });
}

function say(message: FromThread): void {
  main.postMessage(message);
}

port.onsent = look;
main.on("message", (message: Uint8Array | ToThread) => {
  if (message instanceof Uint8Array) take(message);
  else if (message.kind === "listen") listen(message.at);
  else if (message.kind === "stop") server.close();
  else process.exit();
});
