// kill -9 of a retracker that runs as its users run it: what was answered is there afterwards.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { escapeBytes } from "./http/query.ts";
import { failing, HttpUpstream, told } from "./testing/http-upstream.ts";
import { announceTo, fetchBytes, hashOf, peersIn } from "./testing/scene.ts";
import { type Bencoded, decode } from "./wire/bencode.ts";

const PROGRAM = join(import.meta.dirname, "main.ts");
/** What the documentation allows to be lost of peers. */
const PEERS_LOST_MS = 5_000;

async function start(dir: string, list: string): Promise<{ child: ChildProcess; url: string }> {
  const flags = ["--listen", "127.0.0.1:0", "--udp-listen", "", "--dir", dir, "--forwarders", list];
  const child = spawn(process.execPath, [PROGRAM, ...flags], { stdio: ["ignore", "pipe", 2] });
  for await (const line of createInterface({ input: child.stdout! })) {
    const [url] = /http:\S+(?=\/announce)/.exec(line) ?? [];
    if (url !== undefined) return { child, url };
  }
  throw new Error("the retracker did not start");
}

test("peers, completed counts, next announces and forwarder states survive kill -9", async () => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-retracker-"));
  await using good = await HttpUpstream.open(() => told({ peers: "\x0a\x01\x01\x01\x1a\xe1" }));
  await using bad = await HttpUpstream.open(() => ({ status: 404 }));
  await using never = await HttpUpstream.open(() => failing("no", "never"));
  const list = join(dir, "forwarders.yml");
  const named = { good, bad, never };
  const entries = Object.entries(named).map(
    ([name, { uri }]) => `- uri: ${uri}\n  name: ${name}\n`,
  );
  writeFileSync(list, entries.join(""));
  const first = await start(join(dir, "data"), list);
  await announceTo(`${first.url}/announce`, { peer: "a", port: 1001 });
  await announceTo(`${first.url}/announce`, { peer: "b", port: 1002, left: 0, event: "completed" });
  // The durable part is there when it is seen; peers may take as long as is promised.
  await pause(PEERS_LOST_MS);
  const before = await statistics(first.url);
  first.child.kill("SIGKILL");
  await once(first.child, "exit");
  const asked = good.asked.length + never.asked.length;

  const second = await start(join(dir, "data"), list);
  const after = await statistics(second.url);
  const state = (all: typeof after, name: string) =>
    all.forwarders.find((one) => one.name === name)!;
  assert.equal(state(before, "bad").state, "disabled");
  assert.equal(state(after, "bad").state, "disabled");
  assert.equal(state(after, "bad").reason, "HTTP 404");
  assert.ok(state(after, "bad").next_probe_seconds > 200);
  const answer = await announceTo(`${second.url}/announce`, { peer: "a", port: 1001 });
  assert.deepEqual(peersIn(answer), ["10.1.1.1:6881", "127.0.0.1:1002"]);
  assert.equal(answer.get("complete"), 1);
  assert.equal(await downloaded(second.url), 1);
  // No peer was announced again: for one forwarder that is not due for half an hour, for the other
  // it never is.
  await statistics(second.url);
  assert.equal(good.asked.length + never.asked.length, asked);
  second.child.kill("SIGTERM");
  const [code] = await once(second.child, "exit");
  assert.equal(code, 0);
  rmSync(dir, { recursive: true });
});

async function statistics(url: string): Promise<{
  forwarders: { name: string; state: string; reason: string; next_probe_seconds: number }[];
}> {
  return JSON.parse(String((await fetchBytes(`${url}/stats?format=json`)).body));
}

async function downloaded(url: string): Promise<unknown> {
  const escaped = escapeBytes(hashOf("hash"));
  const { body } = await fetchBytes(`${url}/scrape?info_hash=${escaped}`);
  const files = (decode(body) as Map<string, Bencoded>).get("files") as Map<string, Bencoded>;
  return (files.get(hashOf("hash")) as Map<string, Bencoded>).get("downloaded");
}
