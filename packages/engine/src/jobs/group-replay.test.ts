import assert from "node:assert/strict";
import { test } from "node:test";
import { Groups } from "./group.ts";

const membersOf = (groups: Groups, name: string): unknown =>
  [...(groups.find(name)?.group.members ?? [])].sort();

test("a group that comes before its members ends with the last of them", () => {
  const groups = new Groups(0);
  groups.restore(
    "g",
    [
      [1, "finished"],
      [2, undefined],
      [3, undefined],
    ],
    false,
  );
  const entry = groups.join("g", 2);
  groups.join("g", 3);
  assert.equal(groups.close("g"), undefined);
  assert.equal(groups.end(entry, 2, "finished"), undefined);
  assert.equal(groups.end(entry, 3, "dead")?.name, "g");
  assert.equal(groups.find("g")?.isEnded, true);
});

test("counts a member whose end comes before the record of its job", () => {
  const groups = new Groups(0);
  groups.restore(
    "g",
    [
      [1, undefined],
      [2, undefined],
    ],
    false,
  );
  groups.endAwaited(1, "failed");
  groups.endAwaited(7, "failed");
  assert.equal(groups.find("g")?.isEnded, false);
  groups.endAwaited(2, "finished");
  assert.deepEqual(membersOf(groups, "g"), [
    [1, "failed"],
    [2, "finished"],
  ]);
  assert.equal(groups.find("g")?.isEnded, true);
});

test("members whose records never come were deleted with their queue", () => {
  const groups = new Groups(0);
  groups.restore("g", [[1, undefined]], false);
  groups.restore("h", [[2, undefined]], false);
  groups.endAllAwaited("g");
  assert.deepEqual(membersOf(groups, "g"), [[1, "cancelled"]]);
  assert.equal(groups.find("h")?.isEnded, false);
  groups.endAllAwaited();
  assert.equal(groups.find("h")?.isEnded, true);
});

test("a group that is emitted again updates the states of its members", () => {
  const groups = new Groups(0);
  groups.restore(
    "g",
    [
      [1, undefined],
      [2, undefined],
    ],
    false,
  );
  const entry = groups.join("g", 2);
  groups.restore(
    "g",
    [
      [1, "cancelled"],
      [2, undefined],
    ],
    false,
  );
  groups.endAllAwaited();
  assert.equal(groups.find("g")?.isEnded, false, "the second is there");
  assert.equal(groups.end(entry, 2, "finished")?.name, "g");
});

test("of ended groups with one name that of later jobs is the latest", () => {
  const groups = new Groups(0);
  groups.restore("g", [[5, "finished"]], true);
  groups.restore("g", [[1, "expired"]], true);
  groups.restore("g", [[5, "finished"]], true);
  groups.restore("g", [], true);
  assert.deepEqual(membersOf(groups, "g"), [[5, "finished"]]);
  assert.equal([...groups.all()].length, 3);
});

test("an ended group is complete although one of its members came before it", () => {
  const groups = new Groups(0);
  const entry = groups.join("g", 2);
  groups.close("g");
  groups.end(entry, 2, "failed");
  const told = [
    [1, "dead"],
    [2, "failed"],
  ] as const;
  groups.restore("g", told, true);
  assert.deepEqual(membersOf(groups, "g"), told);
  assert.equal([...groups.all()].length, 1);
});
