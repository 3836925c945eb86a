import assert from "node:assert/strict";
import { test } from "node:test";
import { homeOfQueue } from "../hash.ts";
import { MemoryRegistry } from "../registry/memory-registry.ts";
import type { WatchedEntry } from "../registry/registry.ts";
import { RegistryDirectory } from "./registry-directory.ts";

const PARTITIONS = 8;
const HOME = homeOfQueue("mail", PARTITIONS);
const ELSEWHERE = [0, 1, 2].filter((one) => one !== HOME);

/** A directory that hears of changes only when the test says so. */
async function late() {
  const registry = new MemoryRegistry();
  const said: WatchedEntry[] = [];
  await registry.watch(["queue."], (entry) => said.push(entry));
  return { directory: new RegistryDirectory(registry, { partitions: PARTITIONS }), registry, said };
}

test("a late word of a deletion does not hide what was placed after it", async () => {
  const { directory, said } = await late();
  await directory.place("mail", ELSEWHERE);
  await directory.unplace("mail");
  await directory.place("mail", ELSEWHERE);
  await Promise.resolve();
  assert.equal(said.length, 3);
  for (const entry of said) {
    directory.hear(entry);
    assert.deepEqual(directory.placementOf("mail"), ELSEWHERE, `after ${entry.revision}`);
  }
});

test("a late word of a placement does not bring back what was deleted after it", async () => {
  const { directory, said } = await late();
  await directory.place("mail", ELSEWHERE);
  await directory.unplace("mail");
  await Promise.resolve();
  assert.equal(said.length, 2);
  for (const entry of said) {
    directory.hear(entry);
    assert.deepEqual(directory.placementOf("mail"), [HOME], `after ${entry.revision}`);
    assert.deepEqual(directory.list(), []);
  }
});

test("reports once each what another node places and deletes", async () => {
  const { directory, registry, said } = await late();
  const other = new RegistryDirectory(registry, { partitions: PARTITIONS });
  let changes = 0;
  directory.onChange(() => changes++);
  await other.place("mail", ELSEWHERE);
  await other.unplace("mail");
  await Promise.resolve();
  directory.hear(said[0]!);
  assert.deepEqual(directory.list(), [{ queue: "mail", partitions: ELSEWHERE }]);
  directory.hear(said[1]!);
  directory.hear(said[1]!);
  assert.deepEqual(directory.list(), []);
  assert.equal(changes, 2);
});
