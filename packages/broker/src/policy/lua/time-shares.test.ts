import assert from "node:assert/strict";
import { test } from "node:test";
import { TimeShare, TimeShares } from "./time-shares.ts";

class Runner {
  readonly name: string;
  readonly share = new TimeShare();

  constructor(name: string, ms?: number) {
    this.name = name;
    if (ms !== undefined) this.share.used(ms);
  }
}

function turnsOf(...runners: Runner[]): TimeShares<Runner> {
  const turns = new TimeShares<Runner>(({ share }) => share);
  for (const runner of runners) turns.add(runner);
  return turns;
}

/** Gives turns until one of the runners has had `count`; each takes the time of its name. */
function play(turns: TimeShares<Runner>, count: number): Map<string, number> {
  const had = new Map<string, number>();
  for (;;) {
    const runner = turns.next(false)!;
    const turn = (had.get(runner.name) ?? 0) + 1;
    had.set(runner.name, turn);
    if (turn === count) return had;
    runner.share.used(Number(runner.name));
    turns.add(runner);
  }
}

test("turns go by the time that they take, not by their number", () => {
  const had = play(turnsOf(new Runner("1"), new Runner("20")), 400);
  const slow = had.get("20")!;
  assert.ok(slow >= 18 && slow <= 22, `1 ms had 400 turns, 20 ms had ${slow}`);
});

test("a cheap script does not wait for a hundred that have never run", () => {
  const unknown = Array.from({ length: 100 }, (_, i) => new Runner(`new ${i}`));
  const cheap = new Runner("cheap", 1);
  const turns = turnsOf(...unknown, cheap);
  for (let i = 0; i < 40; i++) {
    assert.equal(turns.next(false), cheap);
    cheap.share.used(1);
    turns.add(cheap);
  }
  const later = Array.from({ length: 30 }, () => turns.next(false));
  const others = later.filter((runner) => runner !== cheap);
  assert.ok(others.length > 0, "but they get their turn as well");
});

test("a script that rested has no time saved up", () => {
  const busy = new Runner("busy", 1);
  const turns = turnsOf(busy);
  for (let i = 0; i < 1000; i++) {
    turns.next(false)!.share.used(1);
    turns.add(busy);
  }
  const back = new Runner("back", 1);
  turns.add(back);
  const order = Array.from({ length: 20 }, () => {
    const runner = turns.next(false)!;
    runner.share.used(1);
    turns.add(runner);
    return runner.name;
  });
  const own = order.filter((name) => name === "back").length;
  assert.ok(own >= 9 && own <= 11, `${own} of 20 turns`);
});

test("places for proven scripts go to no other", () => {
  const fresh = new Runner("new");
  const killed = new Runner("killed", 1);
  killed.share.wasKilled(150);
  const turns = turnsOf(fresh, killed);
  assert.ok(turns.isEmpty(true));
  assert.equal(turns.next(true), undefined);
  assert.equal(turns.next(false), fresh);
  assert.equal(turns.next(false), killed);
  assert.ok(turns.isEmpty(false));
});
