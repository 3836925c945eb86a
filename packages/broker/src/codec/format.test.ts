import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fact } from "@sluice/engine";
import { ByteReader } from "./byte-reader.ts";
import { ByteWriter } from "./byte-writer.ts";
import { decodeFact, encodeFact } from "./facts.ts";
import { readSampleBody, SAMPLES, writeSampleBody } from "./sample-facts.ts";

/**
 * The bytes that logs have on disk: the first sample of each kind. A line that changes is a change
 * of the format; `fact-types.ts` says how that is done. What is JSON is left out at the end.
 */
const BYTES: Readonly<Record<Fact["fact"], string>> = {
  job: "0180c0a3b7a833080101046d61696c010674656e616e740104736d7470030300000103010203",
  moved: "1f80c0a3b7a833080101046d61696c010674656e616e740104736d7470030300000103010203",
  linked: "3580c0a3b7a833ac0203000706ac021508",
  released: "3480c0a3b7a8330201ac02",
  flow: "3380c0a3b7a83300ac02c08fc8b7a833",
  due: "0580c0a3b7a8330001",
  leased: "0280c0a3b7a833ac0201e0d403027731",
  extended: "0480c0a3b7a833ac02c0a907",
  returned: "0780c0a3b7a833ac02",
  retried: "0680c0a3b7a83302010100",
  ended: "0380c0a3b7a83301ac02",
  dead: "0880c0a3b7a833000108617474656d707473",
  redriven: "0980c0a3b7a83301",
  revived: "0a80c0a3b7a83301",
  logged: "3c80c0a3b7a833ac0202026f6b00",
  forgotten: "3a80c0a3b7a833ac02",
  transferred: "3b80c0a3b7a833ac02046d61696c",
  replaced: "0b80c0a3b7a8330001030103010203",
  "follow-up":
    "0c80c0a3b7a83301ffff1f02038000000000000000e03f80c0a3b7a8330480000004008e6ea87942" +
    "8000000000000000f07f070a03020265750674656e616e74046869676802016101620101016be0d4030167" +
    "1e01028000000000000000f83f000103010203",
  promoted: "0d80c0a3b7a8330100",
  queue: "0e80c0a3b7a833046d61696c",
  "queue-deleted": "0f80c0a3b7a833046d61696c",
  purged: "1080c0a3b7a833046d61696c80a094a58d1d",
  "purge-ended": "1180c0a3b7a833046d61696c",
  weight: "1280c0a3b7a833046d61696c020265750007",
  position: "1380c0a3b7a83301046d61696c01010265750302",
  "key-held": "1480c0a3b7a833046d61696c02c3a90102",
  counters: "1580c0a3b7a83301046d61696c",
  gate: "1680c0a3b7a8330106736d74703a2a",
  cooled: "1780c0a3b7a83304736d7470d00f03343239",
  cleared: "1880c0a3b7a83304736d7470",
  reported: "1980c0a3b7a8330104736d7470",
  "gate-state": "1a80c0a3b7a83304736d7470",
  group: "1b80c0a3b7a8330001670201000205",
  "group-ended": "1c80c0a3b7a8330167",
  "group-held": "2080c0a3b7a8330167",
  "group-released": "2180c0a3b7a8330167",
  answered: "2280c0a3b7a833016f0761646420712032",
  stored: "1d80c0a3b7a833010173016b",
  schedule: "3080c0a3b7a8330c6d61696c2f6e696768746c7903010203",
  "schedule-deleted": "3180c0a3b7a8330c6d61696c2f6e696768746c79",
  ticked: "3280c0a3b7a833090c6d61696c2f6e696768746c790100ac02d00fe807",
  ids: "1e80c0a3b7a8330509",
  wall: "2380c0a3b7a83380dddb01",
  life: "2480c0a3b7a83303ac02",
  borrower: "2580c0a3b7a833013702",
  lent: "2680c0a3b7a83304736d74700137ac023228d00f",
  lots: "2780c0a3b7a83304736d74700137040201ab02090300ac020101",
  level: "2f80c0a3b7a8330205302e312e30",
  "lease-secret": "2e80c0a3b7a8331000112233445566778899aabbccddeeff",
  "lot-expired": "2880c0a3b7a83304736d7470ac02",
  progress: "2980c0a3b7a833ac02",
  step: "3680c0a3b7a83308ac02016100030103010203",
  suspended: "3780c0a3b7a83308ac020161000002000104736d7470",
  signalled: "3880c0a3b7a833ac02026f6b01030103010203",
  charged: "3980c0a3b7a83304736d747005",
};

test("a lease of a worker in the process of the broker has a type of its own", () => {
  const writer = new ByteWriter((need) => new Uint8Array(need * 2));
  const fact: Fact = { ...SAMPLES.leased[0], inProcess: true };
  encodeFact(writer, fact, writeSampleBody);
  const hex = Buffer.from(writer.bytes.subarray(0, writer.at)).toString("hex");
  assert.equal(hex, BYTES.leased.replace(/^02/, "2c"));
  assert.deepEqual(decodeFact(new ByteReader(Buffer.from(hex, "hex")), readSampleBody), fact);
});

test("attempts in the backoff of earlier versions are read over", () => {
  const now = "1e0102";
  assert.ok(BYTES["follow-up"].includes(now));
  const hex = BYTES["follow-up"].replace(now, "1f020102");
  const fact = decodeFact(new ByteReader(Buffer.from(hex, "hex")), readSampleBody);
  assert.deepEqual(fact, SAMPLES["follow-up"][0]);
});

const WITH_JSON = new Set([
  "queue",
  "counters",
  "gate",
  "gate-state",
  "stored",
  "answered",
  "progress",
  "schedule",
]);

for (const [kind, [fact]] of Object.entries(SAMPLES)) {
  test(`"${kind}" has the bytes on disk that it always had`, () => {
    const writer = new ByteWriter((need) => new Uint8Array(need * 2));
    encodeFact(writer, fact, writeSampleBody);
    const hex = Buffer.from(writer.bytes.subarray(0, writer.at)).toString("hex");
    const known = BYTES[kind as Fact["fact"]];
    assert.equal(WITH_JSON.has(kind) ? hex.slice(0, known.length) : hex, known);
    if (WITH_JSON.has(kind)) return;
    const reader = new ByteReader(Buffer.from(known, "hex"));
    assert.deepEqual(decodeFact(reader, readSampleBody), fact);
  });
}
