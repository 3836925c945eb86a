import assert from "node:assert/strict";
import { test } from "node:test";
import { openEngine, openTelling, rebuilt, TestEngine } from "../testing/test-engine.ts";
import type { JobSpec } from "../types.ts";
import { Groups } from "./group.ts";

test("a closed group ends once, with its last member", () => {
  const groups = new Groups(0);
  const entry = groups.join("g", 1);
  assert.equal(groups.join("g", 2), entry);
  assert.equal(groups.nameOf(entry), "g");
  assert.equal(groups.close("g"), undefined);
  assert.equal(groups.end(entry, 1, "finished"), undefined);
  const ended = groups.end(entry, 2, "failed");
  assert.deepEqual(
    [...ended!.members],
    [
      [1, "finished"],
      [2, "failed"],
    ],
  );
  assert.equal(groups.close("g"), undefined, "it has ended");
});

test("a group whose members have all ended ends when it is closed", () => {
  const groups = new Groups(0);
  const entry = groups.join("g", 1);
  assert.equal(groups.end(entry, 1, "cancelled"), undefined);
  assert.equal(groups.find("g")?.isEnded, false);
  assert.equal(groups.close("g")?.name, "g");
  assert.equal(groups.find("g")?.isEnded, true);
});

test("a name can be used again, and the latest group of it answers", () => {
  const groups = new Groups(0);
  for (const id of [1, 2]) {
    const entry = groups.join("g", id);
    groups.close("g");
    groups.end(entry, id, "finished");
    assert.deepEqual([...groups.find("g")!.group.members.keys()], [id]);
  }
  groups.join("g", 3);
  assert.equal(groups.find("g")?.isEnded, false, "the open one is the latest");
});

test("a thousand ended groups are remembered, older ones are not", () => {
  const groups = new Groups(0);
  for (let i = 0; i <= 1000; i++) {
    const entry = groups.join(`g${i}`, i + 1);
    groups.close(`g${i}`);
    groups.end(entry, i + 1, "finished");
  }
  assert.equal(groups.find("g0"), undefined);
  assert.equal(groups.find("g1")?.isEnded, true);
  assert.equal(groups.find("none"), undefined);
  assert.equal(groups.close("none"), undefined);
});

test("a batch is one group, which ends after the end of its last member however they end", () => {
  const engine = openEngine({ retry: { attempts: 1 }, dlq: false });
  engine.setGate("shut", { rate: 0 }, 0);
  const group = "g";
  const specs: JobSpec[] = [
    { group },
    { group },
    { group, ttlMs: 50 },
    { group, gates: ["later"], maxWaitMs: 10 },
  ];
  engine.addAll("q", specs, 0);
  engine.cooldown("later", 1000, "busy", 0);
  const [a, b] = engine.lease("q", 2, 0);
  engine.ack(a!.id, a!.lease, 1);
  engine.tick(50);
  assert.equal(engine.queries.group(group)?.ended, false);
  assert.equal(engine.queries.job(b!.id)?.group, group);
  engine.nack(b!.id, b!.lease, 51);
  assert.deepEqual(engine.queries.group(group), {
    ended: true,
    members: [
      { id: 1, state: "finished" },
      { id: 2, state: "failed" },
      { id: 3, state: "expired" },
      { id: 4, state: "failed" },
    ],
  });
});

test("a member that is dead-lettered or cancelled has ended for its group", () => {
  const engine = openEngine({ retry: { attempts: 1 } });
  engine.addAll("q", [{ group: "g" }, { group: "g" }], 0);
  const [lease] = engine.lease("q", 1, 0);
  engine.nack(lease!.id, lease!.lease, 0);
  assert.deepEqual(engine.queries.group("g")?.members, [{ id: 1, state: "dead" }, { id: 2 }]);
  engine.cancel(2, 0);
  assert.equal(engine.queries.group("g")?.ended, true);
  engine.redrive("q.dlq", {}, 1);
  assert.equal(engine.queries.job(1)?.group, undefined, "put back, it is a job of its own");
});

test("each single add is a group of one, and joins a group of its name that is still open", () => {
  const engine = openEngine();
  engine.add("q", { group: "g" }, 0);
  engine.add("q", { group: "g" }, 0);
  for (const { id, lease } of engine.lease("q", 2, 0)) {
    assert.equal(engine.queries.group("g")?.ended, false);
    engine.ack(id, lease, 0);
  }
  assert.equal(engine.queries.group("g")?.ended, true);
  assert.equal(engine.queries.group("unknown"), undefined);
});

test("a member that is refused is none", () => {
  const engine = openEngine({ capacity: { jobs: 1 } });
  engine.addAll("q", [{ group: "g" }, { group: "g" }], 0);
  assert.deepEqual(engine.queries.group("g"), { ended: false, members: [{ id: 1 }] });
  engine.cancel(1, 0);
  assert.equal(engine.queries.group("g")?.ended, true);
});

test("a follow-up is in no group: the group ends with its members", () => {
  const engine = openEngine();
  const spec: JobSpec = { group: "g", dedupe: { key: "k", mode: "keepLast" } };
  engine.add("q", spec, 0);
  const [first] = engine.lease("q", 1, 0);
  engine.add("q", spec, 0);
  engine.ack(first!.id, first!.lease, 0);
  assert.deepEqual(engine.queries.group("g"), {
    ended: true,
    members: [{ id: 1, state: "finished" }],
  });
  const [second] = engine.lease("q", 1, 0);
  assert.equal(engine.queries.job(second!.id)?.group, undefined);
});

test("a held group ends when it is released and its members have ended, in either order", () => {
  const { engine, facts } = openTelling();
  for (const isReleasedFirst of [true, false]) {
    engine.addAll("q", [{ group: "g" }], 0, { holdGroups: true });
    engine.addAll("q", [{ group: "g" }], 0);
    assert.deepEqual(engine.queries.heldGroups(), ["g"], "another add does not release it");
    if (isReleasedFirst) engine.releaseGroup("g", 0);
    for (const { id, lease } of engine.lease("q", 2, 0)) engine.ack(id, lease, 0);
    assert.equal(engine.queries.group("g")?.ended, isReleasedFirst);
    if (!isReleasedFirst) engine.releaseGroup("g", 0);
    assert.equal(engine.queries.group("g")?.ended, true);
    assert.deepEqual(engine.queries.heldGroups(), []);
  }
  engine.releaseGroup("g", 0);
  engine.releaseGroup("unknown", 0);
  assert.equal(facts.filter(({ fact }) => fact === "group-ended").length, 2);
  assert.equal(facts.filter(({ fact }) => fact === "group-released").length, 2);
});

test("a held group is rebuilt as it was, by its facts, a snapshot and a checkpoint", () => {
  const { engine, facts } = openTelling();
  engine.addAll("q", [{ group: "g" }, { group: "g" }], 0, { holdGroups: true });
  const [a, b] = engine.lease("q", 2, 0);
  engine.ack(a!.id, a!.lease, 0);
  engine.ack(b!.id, b!.lease, 0);
  const told = {
    facts: structuredClone(facts),
    snapshot: structuredClone([...engine.snapshot()]),
    checkpoint: structuredClone([...engine.checkpoint()].flat()),
  };
  for (const [what, list] of Object.entries(told)) {
    const again = rebuilt(list);
    assert.deepEqual(again.queries.heldGroups(), ["g"], what);
    assert.equal(again.queries.group("g")?.ended, false, what);
    again.releaseGroup("g", 1);
    assert.equal(again.queries.group("g")?.ended, true, what);
  }
  engine.releaseGroup("g", 1);
  const after = new TestEngine();
  for (const fact of facts) after.apply(fact);
  assert.deepEqual(after.queries.group("g"), engine.queries.group("g"));
});

test("a group that is held is not held again, and one that is unknown cannot be", () => {
  const groups = new Groups(0);
  assert.equal(groups.hold("g"), false);
  groups.join("g", 1);
  assert.equal(groups.hold("g"), true);
  assert.equal(groups.hold("g"), false);
  assert.deepEqual([...groups.held()], ["g"]);
});
