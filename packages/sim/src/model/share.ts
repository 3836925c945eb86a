// Fair behind one gate: lanes of one queue and tier that wait for the same gate stay close.
//
// Two lanes that waited from the very start are at most one turn apart on every prefix; two lanes
// of which one came later are at most two turns apart over the time both wait. When the gate opens
// so far that its line dissolves, no lane waits for it any more, and every lane starts again. Only
// for worlds in which every job names the gate, costs 1, and weights do not change.
//
// A lane whose job could pass and only lacks a worker does not wait for the gate. It joins no line
// until its turn comes and it finds the gate shut. As long as the line is empty, the ring gives the
// permits, one turn apart as well, and the line that forms remembers who leads; so the rule holds
// on from the one to the other if all who wait form the line together. It does not when some stand
// there and others wait for a worker still: the line has a round of its own by then, and those who
// join it later arrive at its tail, whatever they have been behind. They begin to wait for the gate
// no sooner than that, so every lane starts again as long as the line is not complete.

import { demand } from "../demand.ts";
import type { ModelJob } from "./job.ts";

interface Line {
  waiting: number;
  weight: number;
  // Jobs served, since the start of the line.
  served: number;
  // What every line of the group had when this one began to wait.
  readonly atStart: Map<string, number>;
  // The number of jobs the group had been served at that time.
  startedAt: number;
}

interface ShareGroup {
  served: number;
  readonly lines: Map<string, Line>;
}

export class Share {
  readonly #groups = new Map<string, ShareGroup>();
  #hasLine = false;

  entered(job: ModelJob): void {
    const group = this.#group(job);
    let line = group.lines.get(job.lane);
    if (line === undefined) {
      line = { waiting: 0, weight: 1, served: 0, atStart: new Map(), startedAt: 0 };
      group.lines.set(job.lane, line);
    }
    line.weight = job.weight ?? line.weight;
    if (line.waiting === 0) this.#start(group, line);
    line.waiting += 1;
  }

  // How many lanes are in the gate's line, according to the gate, after every call.
  observe(waitingLanes: number): void {
    const isDissolved = this.#hasLine && waitingLanes === 0;
    this.#hasLine = waitingLanes > 0;
    const isWhole = !this.#hasLine || waitingLanes >= this.#lanesWaiting();
    if (isWhole && !isDissolved) return;
    for (const group of this.#groups.values()) {
      for (const line of group.lines.values()) this.#start(group, line);
    }
  }

  #lanesWaiting(): number {
    let lanes = 0;
    for (const { lines } of this.#groups.values()) {
      for (const { waiting } of lines.values()) if (waiting > 0) lanes += 1;
    }
    return lanes;
  }

  left(job: ModelJob): void {
    const line = this.#group(job).lines.get(job.lane)!;
    line.waiting -= 1;
  }

  // If permits are not scarce, no lane waits for the gate, so every lane starts again.
  served(job: ModelJob, isScarce: boolean): void {
    const group = this.#group(job);
    const line = group.lines.get(job.lane)!;
    if (!isScarce) {
      group.served += 1;
      line.waiting -= 1;
      for (const each of group.lines.values()) this.#start(group, each);
      return;
    }
    group.served += 1;
    line.served += 1;
    for (const [lane, other] of group.lines) {
      if (lane !== job.lane && other.waiting > 0) this.#check(job.lane, line, lane, other);
    }
    line.waiting -= 1;
  }

  #start(group: ShareGroup, line: Line): void {
    line.startedAt = group.served;
    line.atStart.clear();
    for (const [lane, other] of group.lines) line.atStart.set(lane, other.served);
  }

  // S since both wait, over a common denominator so that everything stays whole.
  #check(lane: string, line: Line, otherLane: string, other: Line): void {
    const later = line.startedAt >= other.startedAt ? line : other;
    const served = line.served - (later.atStart.get(lane) ?? 0);
    const otherServed = other.served - (later.atStart.get(otherLane) ?? 0);
    const apart = Math.abs(served * other.weight - otherServed * line.weight);
    const turns = later.startedAt === 0 ? 1 : 2;
    demand(apart <= turns * line.weight * other.weight, "h: fair behind a shared gate", () =>
      [
        `lane ${lane} (weight ${line.weight}) got ${served}`,
        `lane ${otherLane} (weight ${other.weight}) got ${otherServed} while both waited`,
        `at most ${turns} turn(s) apart`,
      ].join(", "),
    );
  }

  #group(job: ModelJob): ShareGroup {
    const key = `${job.queue}|${job.tier}`;
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = { served: 0, lines: new Map() };
      this.#groups.set(key, group);
    }
    return group;
  }
}
