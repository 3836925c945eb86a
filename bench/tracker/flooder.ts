// The program of a child process: floods a tracker from one address until it is stopped. It
// announces 5,000 peers of one hash, says `completed` for 20,000 hashes, and sends malformed
// packets.

import { createSocket } from "node:dgram";
import { Agent, get } from "node:http";

const [port = "", run = ""] = process.argv.slice(2);
const ADDRESS = "127.0.0.66";
const CONNECTIONS = 8;
const PEERS = 5_000;
const COMPLETED = 20_000;
const MALFORMED_EVERY_MS = 1;
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, localAddress: ADDRESS });
let sent = 0;

function queryOf(n: number): string {
  const id = `flood${run.padStart(3, "x")}${String(n).padStart(12, "0")}`;
  if (n % 2 === 0) {
    const peer = (n / 2) % PEERS;
    return `info_hash=floodfloodfloodflood&peer_id=${id}&port=${1 + peer}&left=1`;
  }
  const hash = `flood${run.padStart(3, "x")}${String(n % (2 * COMPLETED)).padStart(12, "0")}`;
  return `info_hash=${hash}&peer_id=${id}&port=7&left=0&event=completed`;
}

function ask(): void {
  const path = `/announce?${queryOf(sent++)}`;
  get({ host: "127.0.0.1", port: Number(port), path, agent, localAddress: ADDRESS }, (response) => {
    response.resume().on("end", ask);
  }).on("error", () => setImmediate(ask));
}

const socket = createSocket("udp4").bind(0, ADDRESS);
const malformed = Buffer.alloc(98, 0x42);
setInterval(() => socket.send(malformed, Number(port), "127.0.0.1"), MALFORMED_EVERY_MS);
for (let i = 0; i < CONNECTIONS; i++) ask();
setTimeout(() => process.stdout.write("flooding\n"), 500);
process.on("SIGTERM", () => {
  const { user, system } = process.cpuUsage();
  const cpuShare = (user + system) / 1e6 / process.uptime();
  process.stdout.write(`${JSON.stringify({ sent, cpuShare })}\n`, () => process.exit());
});
