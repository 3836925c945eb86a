// A client's announce reaches opentracker through Debian's SOCKS5 proxy, over UDP and over HTTP.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { freePort } from "@sluice/server/testing/loopback";
import { escapeBytes } from "../http/query.ts";
import { Retracker } from "../retracker.ts";
import { announceTo, peersIn, specsOf } from "../testing/scene.ts";
import { OpenTracker } from "./open-tracker.ts";
import { missingPrograms, Program } from "./programs.ts";
import { makeTorrent } from "./torrent.ts";
import { until } from "./until.ts";

const missing = missingPrograms(["opentracker", "danted"]);

/** Lets clients of the loopback go to the loopback, over TCP and UDP. */
const configOf = (port: number): string => `
logoutput: stderr
internal: 127.0.0.1 port = ${port}
external: 127.0.0.1
socksmethod: none
clientmethod: none
user.privileged: ${userInfo().username}
user.unprivileged: ${userInfo().username}
client pass { from: 127.0.0.0/8 to: 0.0.0.0/0 }
socks pass { from: 0.0.0.0/0 to: 0.0.0.0/0 log: connect }
`;

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });
}

describe("dante", { skip: missing ?? false }, () => {
  for (const protocol of ["udp", "http"] as const) {
    test(`an upstream over ${protocol} is reached through the proxy`, async (t) => {
      const dir = mkdtempSync(join(tmpdir(), "sluice-dante-"));
      const torrent = makeTorrent("behind-a-proxy.bin", 1000);
      const upstream = new OpenTracker(await freePort(), [torrent]);
      t.after(async () => {
        await upstream.end();
        rmSync(dir, { recursive: true, force: true });
      });
      await upstream.start();
      const port = await freePort();
      const config = join(dir, "danted.conf");
      writeFileSync(config, configOf(port));
      await using dante = new Program("danted", ["-f", config]);
      await until("dante", () => accepts(port));
      const fields = { info_hash: escapeBytes(torrent.hash), port: 7010, peer: "far" };
      await announceTo(`http://127.0.0.1:${upstream.port}/announce`, fields);
      await using retracker = await Retracker.open({
        settings: {
          listen: "127.0.0.1:0",
          udp_listen: "",
          durability: "memory",
          first_announce_wait_ms: 5000,
        },
        forwarders: specsOf([
          {
            uri: `${protocol}://127.0.0.1:${upstream.port}/announce`,
            name: "behind",
            proxy: `socks5://127.0.0.1:${port}`,
          },
        ]),
      });
      const url = `http://127.0.0.1:${retracker.ports.http}/announce`;
      const answer = await announceTo(url, { ...fields, port: 7011, peer: "near" });
      assert.deepEqual(peersIn(answer), ["127.0.0.1:7010"], dante.output);
      const line = protocol === "udp" ? "udp/udpassociate" : "tcp/connect";
      await until(`${line} in the log of the proxy`, async () => dante.output.includes(line));
      // Its children end with it.
      await dante.kill("SIGTERM");
    });
  }
});
