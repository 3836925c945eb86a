// The program of a child: what Node itself takes for an announce. It reads each request, answers
// the same bytes to all, and knows nothing: no tracker on Node can take less.

import { createSocket } from "node:dgram";
import { createServer } from "node:net";

const port = Number(process.argv[2]);
const TEXT = "d8:intervali1800e5:peers6:bbbbbbe";
const HEAD = `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${TEXT.length}\r\n`;
const CONNECT_BYTES = 16;
const ANNOUNCE_BYTES = 26;

const udp = createSocket({
  type: "udp4",
  // Every address here is one already. Node's own lookup would cost a turn of the loop.
  lookup: (address, _options, done) => done(null, address, 4),
});
udp.on("message", (request, from) => {
  const action = request.readUInt32BE(8);
  const answer = Buffer.alloc(action === 0 ? CONNECT_BYTES : ANNOUNCE_BYTES);
  answer.writeUInt32BE(action, 0);
  request.copy(answer, 4, 12, 16);
  udp.send(answer, from.port, from.address);
});
udp.bind(port, "127.0.0.1");

createServer({ allowHalfOpen: true }, (socket) => {
  socket.on("data", (request) => {
    const isKept = request.includes("keep-alive");
    socket.write(`${HEAD}Connection: ${isKept ? "keep-alive" : "close"}\r\n\r\n${TEXT}`, "latin1");
    if (!isKept) socket.destroy();
  });
  socket.on("error", () => {});
}).listen({ port, host: "127.0.0.1", backlog: 1024 });
