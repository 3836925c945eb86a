// Two clients of bittorrent-tracker meet by the retracker and speak over WebRTC.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, test } from "node:test";
// @ts-expect-error: it brings no types.
import { Client as AnyClient } from "bittorrent-tracker";
import { Retracker } from "../retracker.ts";

interface RtcPeer {
  on(event: "connect", listener: () => void): void;
  on(event: "data", listener: (data: Uint8Array) => void): void;
  on(event: "error", listener: (error: Error) => void): void;
  send(data: Buffer): void;
}

interface TrackerClient {
  on(event: "peer", listener: (peer: RtcPeer) => void): void;
  on(event: "warning" | "error", listener: (error: Error) => void): void;
  on(event: "update", listener: (update: { complete: number }) => void): void;
  start(): void;
  destroy(): void;
}

type ClientMaker = new (options: object) => TrackerClient;

const Client = AnyClient as ClientMaker;
const BYTES = 60_000;

test("a seeder's bytes reach another peer over WebRTC", async () => {
  await using retracker = await Retracker.open({
    settings: { listen: "127.0.0.1:0", udp_listen: "", durability: "memory" },
  });
  const warnings: string[] = [];
  const make = (letter: string, left: number, path: string): TrackerClient => {
    const client = new Client({
      infoHash: Buffer.alloc(20, "h"),
      peerId: Buffer.alloc(20, letter),
      announce: [`ws://127.0.0.1:${retracker.ports.http}${path}`],
      port: 6881,
      getAnnounceOpts: () => ({ left, uploaded: 0, downloaded: 0, numwant: 4 }),
    });
    for (const event of ["warning", "error"] as const) {
      client.on(event, ({ message }) => warnings.push(message));
    }
    return client;
  };
  // Clients of one address would share one connection.
  const [seeder, other] = [make("s", 0, "/announce"), make("o", 1, "/")];
  const content = randomBytes(BYTES);
  seeder.on("peer", (peer) => peer.on("connect", () => peer.send(content)));
  const received = new Promise<Buffer>((resolve) => {
    other.on("peer", (peer) => peer.on("data", (data) => resolve(Buffer.from(data))));
  });
  const isSeeding = new Promise((resolve) => seeder.on("update", resolve));
  seeder.start();
  await isSeeding;
  other.start();
  assert.deepEqual(await received, content, warnings.join("\n"));
  assert.deepEqual(warnings, []);
  for (const client of [seeder, other]) client.destroy();
});

// Its threads would keep the process alive.
after(async () => (await import("node-datachannel")).cleanup());
