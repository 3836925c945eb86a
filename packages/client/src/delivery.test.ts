import assert from "node:assert/strict";
import { test } from "node:test";
import type { LeasedJob } from "@sluice/protocol";
import { Delivery, type DeliveryLeases, HeldJobs } from "./delivery.ts";

const leases = {} as DeliveryLeases;

function jobNamed(id: string): Delivery {
  const job: LeasedJob = {
    id,
    lease: `${id}.1`,
    queue: "mail",
    attempt: 0,
    attempts: 1,
    deliveries: 1,
    tier: 0,
    addedAt: 0,
    expiresAt: 1000,
    expiresIn: 1000,
    fairnessKey: "",
    headers: {},
    payload: new Uint8Array(0),
  };
  return new Delivery(leases, job, 1000, 300);
}

const idsOf = (held: HeldJobs): string => held.all().reduce((ids, { id }) => ids + id, "");

test("jobs are held in the order in which they came, whichever of them leave", () => {
  for (const leaving of ["a", "b", "c", "ab", "ba", "bc", "ac", "cba", "abc"]) {
    const held = new HeldJobs();
    const jobs = [..."abc"].map(jobNamed);
    for (const job of jobs) held.add(job);
    for (const id of leaving) assert.equal(held.delete(jobs.find((job) => job.id === id)!), true);
    const kept = [..."abc"].filter((id) => !leaving.includes(id)).join("");
    assert.equal(idsOf(held), kept, leaving);
    assert.equal(held.size, kept.length, leaving);
  }
});

test("a job is held once, leaves once, and may come again at the end", () => {
  const held = new HeldJobs();
  const [a, b] = [jobNamed("a"), jobNamed("b")];
  held.add(a);
  held.add(a);
  held.add(b);
  assert.equal(idsOf(held), "ab");
  assert.equal(held.delete(a), true);
  assert.equal(held.delete(a), false);
  held.add(a);
  assert.equal(idsOf(held), "ba");
  assert.equal(held.size, 2);
});

test("a job shows nothing of the jobs beside it", () => {
  const held = new HeldJobs();
  const [a, b] = [jobNamed("a"), jobNamed("b")];
  const before = Object.keys(a);
  held.add(a);
  held.add(b);
  assert.deepEqual(Object.keys(a), before);
});
