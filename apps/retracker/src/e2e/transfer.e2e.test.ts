// A real file goes from a client that knows only an upstream tracker to one that knows only the
// retracker: it can only get there if the retracker has sent the address of one to the other.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { freePort } from "@sluice/server/testing/loopback";
import { escapeBytes } from "../http/query.ts";
import { Retracker } from "../retracker.ts";
import { announceTo, fetchBytes, peersIn, specsOf } from "../testing/scene.ts";
import { SkippingClock } from "../testing/skipping-clock.ts";
import { type Bencoded, decode } from "../wire/bencode.ts";
import { OpenTracker } from "./open-tracker.ts";
import { missingPrograms, Program } from "./programs.ts";
import { makeTorrent, writeTorrent } from "./torrent.ts";
import { until } from "./until.ts";

const missing = missingPrograms();
const BYTES = 1_500_000;

async function scrape(port: number, hash: string): Promise<Map<string, Bencoded> | undefined> {
  const escaped = escapeBytes(hash);
  try {
    const url = `http://127.0.0.1:${port}/scrape?info_hash=${escaped}`;
    const answer = decode((await fetchBytes(url)).body) as Map<string, Bencoded>;
    return (answer.get("files") as Map<string, Map<string, Bencoded>>)?.get(hash);
  } catch {
    return undefined;
  }
}

function transmission(dir: string, peerPort: number, rpcPort: number): Program {
  const settings = {
    "dht-enabled": false,
    "pex-enabled": false,
    "lpd-enabled": false,
    "utp-enabled": false,
    "port-forwarding-enabled": false,
    "bind-address-ipv4": "127.0.0.1",
    "bind-address-ipv6": "::1",
    "peer-port": peerPort,
    "rpc-port": rpcPort,
    "rpc-bind-address": "127.0.0.1",
    "rpc-whitelist-enabled": false,
    "download-dir": dir,
  };
  mkdirSync(join(dir, "config"));
  writeFileSync(join(dir, "config", "settings.json"), JSON.stringify(settings));
  return new Program("transmission-daemon", ["-f", "-g", join(dir, "config")]);
}

async function remote(rpcPort: number, ...args: string[]): Promise<string> {
  const program = new Program("transmission-remote", [`127.0.0.1:${rpcPort}`, ...args]);
  await program.ended();
  return program.output;
}

function aria2(dir: string, file: string, port: number): Program {
  return new Program("aria2c", [
    "--enable-dht=false",
    "--enable-dht6=false",
    "--enable-peer-exchange=false",
    "--bt-enable-lpd=false",
    // Without a few seconds of seeding it says stopped and leaves completed out.
    "--seed-time=0.1",
    "--bt-stop-timeout=50",
    "--interface=127.0.0.1",
    `--listen-port=${port}`,
    `--dir=${dir}`,
    "--allow-overwrite=true",
    "--check-integrity=true",
    file,
  ]);
}

describe("transfers", { skip: missing ?? false }, () => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-retracker-e2e-"));
  const torrents = {
    http: makeTorrent("over-http.bin", BYTES),
    udp: makeTorrent("over-udp.bin", BYTES),
    reverse: makeTorrent("reverse.bin", BYTES),
    back: makeTorrent("back.bin", 1000),
  };
  let upstream: OpenTracker;
  let rpcPort = 0;
  let daemon: Program;

  before(async () => {
    upstream = new OpenTracker(await freePort(), Object.values(torrents));
    await upstream.start();
    const seed = join(dir, "seed");
    mkdirSync(seed);
    rpcPort = await freePort();
    for (const torrent of [torrents.http, torrents.udp]) {
      writeFileSync(join(seed, torrent.name), torrent.content);
      const announce = `http://127.0.0.1:${upstream.port}/announce`;
      writeTorrent(torrent, join(dir, `${torrent.name}.seed.torrent`), announce);
    }
    daemon = transmission(seed, await freePort(), rpcPort);
    await until("transmission", async () => (await remote(rpcPort, "-l")).includes("Sum:"));
    for (const { name } of [torrents.http, torrents.udp]) {
      await remote(rpcPort, "-a", join(dir, `${name}.seed.torrent`), "-w", seed);
    }
    await until("the seeder at the upstream", async () => {
      const all = [torrents.http, torrents.udp].map(({ hash }) => scrape(upstream.port, hash));
      return (await Promise.all(all)).every((counts) => counts?.get("complete") === 1);
    });
  });

  after(async () => {
    await daemon.kill();
    await upstream.end();
    rmSync(dir, { recursive: true, force: true });
  });

  for (const protocol of ["http", "udp"] as const) {
    test(`aria2 gets a file by an upstream over ${protocol}, which sees it end`, async () => {
      const torrent = torrents[protocol];
      await using retracker = await Retracker.open({
        settings: {
          listen: "127.0.0.1:0",
          udp_listen: "127.0.0.1:0",
          durability: "memory",
          // The client asks once and then not for a while.
          first_announce_wait_ms: 5000,
        },
        forwarders: specsOf([`${protocol}://127.0.0.1:${upstream.port}/announce`]),
      });
      const target = join(dir, `got-${protocol}`);
      mkdirSync(target);
      const file = join(target, "file.torrent");
      writeTorrent(torrent, file, `http://127.0.0.1:${retracker.ports.http}/announce`);
      await using client = aria2(target, file, await freePort());
      assert.equal(await client.ended(), 0, client.output);
      assert.deepEqual(readFileSync(join(target, torrent.name)), torrent.content);
      await until("completed at the upstream", async () => {
        return (await scrape(upstream.port, torrent.hash))?.get("downloaded") === 1;
      });
      await until("stopped at the upstream", async () => {
        const counts = await scrape(upstream.port, torrent.hash);
        return counts?.get("complete") === 1 && counts.get("incomplete") === 0;
      });
    });
  }

  // transmission takes no peer of the loopback from a tracker, but lets them in.
  test("transmission seeds by the retracker, aria2 knows only the upstream", async () => {
    const torrent = torrents.reverse;
    await using retracker = await Retracker.open({
      settings: { listen: "127.0.0.1:0", udp_listen: "127.0.0.1:0", durability: "memory" },
      forwarders: specsOf([`udp://127.0.0.1:${upstream.port}/announce`]),
    });
    const file = join(dir, `${torrent.name}.seed.torrent`);
    writeTorrent(torrent, file, `udp://127.0.0.1:${retracker.ports.udp}/announce`);
    writeFileSync(join(dir, "seed", torrent.name), torrent.content);
    await remote(rpcPort, "-a", file, "-w", join(dir, "seed"));
    await until("the seeder at the upstream", async () => {
      return (await scrape(upstream.port, torrent.hash))?.get("complete") === 1;
    });
    const target = join(dir, "got-reverse");
    mkdirSync(target);
    const wanted = join(target, "file.torrent");
    writeTorrent(torrent, wanted, `http://127.0.0.1:${upstream.port}/announce`);
    await using client = aria2(target, wanted, await freePort());
    assert.equal(await client.ended(), 0, client.output);
    assert.deepEqual(readFileSync(join(target, torrent.name)), torrent.content);
    await remote(rpcPort, "-t", torrent.hex, "-r");
    await until("stopped at the upstream", async () => {
      return (await scrape(upstream.port, torrent.hash))?.get("complete") !== 1;
    });
  });

  for (const protocol of ["http", "udp"] as const) {
    test(`an upstream over ${protocol} that is killed and comes back is found again`, async () => {
      const { hash } = torrents.back;
      const own = new OpenTracker(await freePort(), [torrents.back]);
      await own.start();
      const clock = new SkippingClock();
      await using retracker = await Retracker.open({
        clock,
        settings: { listen: "127.0.0.1:0", udp_listen: "", durability: "memory" },
        forwarders: specsOf([{ uri: `${protocol}://127.0.0.1:${own.port}/announce`, name: "own" }]),
      });
      const url = `http://127.0.0.1:${retracker.ports.http}/announce`;
      const fields = { info_hash: escapeBytes(hash), peer: "a", port: 7001 };
      await announceTo(url, fields);
      await until("the peer", async () => (await scrape(own.port, hash))?.get("incomplete") === 1);
      await own.kill();
      await announceTo(url, { ...fields, peer: "b", port: 7002 });
      const state = async (): Promise<string> => {
        const { forwarders } = await retracker.statistics();
        return forwarders[0]!.state;
      };
      await until("the end of it to be seen", async () => (await state()) === "disabled");
      await own.start();
      // The first probe comes after five minutes, and brings a peer; the others follow.
      clock.skip(5 * 60_000);
      await until("the probe", async () => (await state()) === "active");
      clock.skip(60_000);
      await until("both peers", async () => {
        return (await scrape(own.port, hash))?.get("incomplete") === 2;
      });
      assert.equal(await state(), "active");
      await own.end();
    });
  }

  test("a client of the retracker gets a peer that only the upstream knows", async () => {
    const { hash } = torrents.back;
    const fields = { info_hash: escapeBytes(hash), port: 7010, peer: "far" };
    await announceTo(`http://127.0.0.1:${upstream.port}/announce`, fields);
    await using retracker = await Retracker.open({
      settings: {
        listen: "127.0.0.1:0",
        udp_listen: "",
        durability: "memory",
        first_announce_wait_ms: 5000,
      },
      forwarders: specsOf([`http://127.0.0.1:${upstream.port}/announce`]),
    });
    const url = `http://127.0.0.1:${retracker.ports.http}/announce`;
    const answer = await announceTo(url, { ...fields, port: 7011, peer: "near" });
    assert.deepEqual(peersIn(answer), ["127.0.0.1:7010"]);
  });
});
