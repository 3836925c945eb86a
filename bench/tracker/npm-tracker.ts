// The program of a child process: the server of npm's bittorrent-tracker, on the given port.

// @ts-expect-error: it brings no types.
import Server from "bittorrent-tracker/server";

const server = new Server({ udp: true, http: true, ws: false, stats: false, trustProxy: false });
server.on("warning", () => {});
server.on("error", (error: Error) => {
  console.error(error);
  process.exit(1);
});
const hosts = { http: "127.0.0.1", udp: "127.0.0.1", udp6: "::1" };
server.listen(Number(process.argv[2]), hosts);
