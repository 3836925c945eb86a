import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { FakeClock } from "sluice";
import { hashOf, peerOf } from "../testing/scene.ts";
import { KeptPeers } from "./kept-peers.ts";
import { Swarms } from "./swarms.ts";

const announceOf = (n: number) => ({
  hash: hashOf(`h${n % 7}`),
  peerId: peerOf(`p${n}`),
  address: "\x7f\0\0\x01",
  port: 1 + n,
  uploaded: 0,
  downloaded: 2n ** 64n - 1n,
  left: n % 2,
  event: 0 as const,
  key: n,
  numwant: 50,
});

async function reopened(file: string) {
  const swarms = new Swarms({ peersPerHash: 5000, peersPerAddress: 5000 });
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const clock = new FakeClock();
  const kept = await KeptPeers.open({ file, isSynced: false, clock, swarms, onError });
  return { swarms, errors, kept };
}

test("peers come back as they were, and free rows are used again", async () => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-retracker-"));
  const file = join(dir, "peers.dat");
  const first = await reopened(file);
  for (let n = 0; n < 300; n++) first.swarms.put(announceOf(n), 1000 + n);
  for (let n = 0; n < 300; n += 3) {
    first.swarms.remove(first.swarms.rowAt(announceOf(n)));
  }
  await first.kept.close();
  const { swarms, kept, errors } = await reopened(file);
  assert.deepEqual(errors, []);
  assert.equal(swarms.peers, 200);
  const seeders = (all: Swarms): number => all.seeders(all.find(hashOf("h1")));
  assert.equal(seeders(swarms), seeders(first.swarms));
  const row = swarms.rowAt(announceOf(4));
  const { event: _event, numwant: _numwant, ...same } = announceOf(4);
  assert.deepEqual(swarms.rows.announceOf(row), same);
  const { blocks } = swarms.rows;
  for (let n = 1000; n < 1100; n++) swarms.put(announceOf(n), 1);
  assert.equal(swarms.rows.blocks, blocks);
  await kept.close();
  rmSync(dir, { recursive: true });
});

test("a damaged block is skipped and reported, and a file of another kind is refused", async () => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-retracker-"));
  const file = join(dir, "peers.dat");
  const first = await reopened(file);
  for (let n = 0; n < 300; n++) first.swarms.put(announceOf(n), 1000);
  await first.kept.close();
  const bytes = readFileSync(file);
  bytes[100]! ^= 1;
  writeFileSync(file, bytes);
  const { swarms, kept, errors } = await reopened(file);
  assert.match(String(errors[0]), /block 0 is damaged/);
  assert.equal(swarms.peers, 300 - 128);
  await kept.close();
  writeFileSync(file, "something else entirely, and long enough");
  await assert.rejects(reopened(file), /holds no peers/);
  rmSync(dir, { recursive: true });
});

test("replaces a file of another version and reports it", async () => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-retracker-"));
  const file = join(dir, "peers.dat");
  writeFileSync(file, `sluice peers 001${"x".repeat(20_000)}`);
  const { swarms, kept, errors } = await reopened(file);
  assert.match(String(errors[0]), /written by another version/);
  swarms.put(announceOf(1), 1);
  await kept.close();
  const again = await reopened(file);
  assert.deepEqual([again.errors, again.swarms.peers], [[], 1]);
  await again.kept.close();
  rmSync(dir, { recursive: true });
});
