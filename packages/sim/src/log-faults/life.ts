// One life of a log on a simulated disk: a random workload, and what it must have kept.
//
// Every append has a number of its own that is never used again, so what a later life replays can
// be compared with what was appended: the numbers must be a piece of the list, without a gap, that
// begins no later than what was trimmed and ends no earlier than what was confirmed.

import assert from "node:assert/strict";
import type { Durability, FileLog, Position, Processes } from "@sluice/log";
import type { Random } from "../random.ts";
import { DIR, type SimDisk } from "./sim-disk.ts";

export type LogModule = typeof import("@sluice/log");

const SEGMENT_BYTES = 2048;

interface Known {
  readonly number: number;
  position: Position;
}

export class LogStory {
  readonly #module: LogModule;
  readonly #random: Random;
  // All that may be in the log, in order; positions are -1 while they are not known.
  #appended: Known[] = [];
  // How many of them must be there, and how many of the first may be gone.
  #confirmed = 0;
  #trimmed = 0;
  #nextNumber = 1;
  #boot = 0;
  readonly #durability: Durability;
  // As it was opened last.
  log: FileLog | undefined = undefined;

  constructor(module: LogModule, random: Random, durability: Durability) {
    this.#module = module;
    this.#random = random;
    this.#durability = durability;
  }

  get confirmed(): number {
    return this.#confirmed;
  }

  // A power loss ends all processes. With `os` it may take what was confirmed, from the end.
  reboot(): void {
    this.#boot++;
    if (this.#durability === "os") this.#confirmed = 0;
  }

  // Opens the log, checks what it replays, and takes that for what there is from now on.
  async open(disk: SimDisk): Promise<FileLog> {
    const bootId = `boot ${this.#boot}`;
    const processes: Processes = {
      self: () => ({ pid: 1, startedTicks: 1, bootId }),
      isRunning: (name) => name.bootId === bootId,
    };
    const durability = this.#durability;
    const segmentBytes = SEGMENT_BYTES;
    const onTorn = (): void => {};
    const options = { dir: DIR, disk, processes, segmentBytes, durability, onTorn };
    this.log = undefined;
    const log = await this.#module.FileLog.open(options);
    const replayed: Known[] = [];
    for await (const { position, facts } of log.replay()) {
      replayed.push({ position, number: numberOf(facts) });
    }
    this.#check(replayed);
    this.#appended = replayed;
    this.#confirmed = replayed.length;
    this.#trimmed = 0;
    this.log = log;
    return log;
  }

  // Appends, reads, trims and reopens at random; ends when the log fails, or after so many steps.
  async work(disk: SimDisk, steps: number): Promise<FileLog> {
    const boot = this.#boot;
    let log = await this.open(disk);
    const waiting: Promise<unknown>[] = [];
    const wait = (promise: Promise<unknown>): void => {
      // The promise is awaited later. Until then a rejection must not count as unhandled.
      promise.catch(() => {});
      waiting.push(promise);
    };
    for (let step = 0; step < steps; step++) {
      // A process that has lost its power does nothing more.
      if (boot !== this.#boot) await new Promise(() => {});
      const act = this.#random.weighted({ append: 20, wait: 6, read: 4, trim: 2, reopen: 1 });
      if (act === "append") wait(this.#append(log));
      if (act === "wait") await Promise.all(waiting.splice(0));
      if (act === "read") await this.#read(log);
      if (act === "trim") wait(this.#trim(log));
      if (act === "reopen") {
        await Promise.all(waiting.splice(0));
        await log.close();
        log = await this.open(disk);
      }
    }
    await Promise.all(waiting);
    return log;
  }

  async #append(log: FileLog): Promise<void> {
    const known = { number: this.#nextNumber++, position: -1 };
    this.#appended.push(known);
    const count = this.#appended.length;
    known.position = await log.append(factsOf(known.number, this.#random));
    assert.equal(count, this.#confirmed + 1, "confirmed out of order");
    this.#confirmed = count;
  }

  async #read(log: FileLog): Promise<void> {
    const known = this.#appended.slice(this.#trimmed, this.#confirmed);
    if (known.length === 0) return;
    const { position, number } = this.#random.pick(known);
    const offset = this.#random.below(8);
    const bytes = await log.read(position, offset, 8 - offset);
    const whole = Buffer.alloc(8);
    whole.writeDoubleLE(number);
    assert.equal(Buffer.compare(bytes, whole.subarray(offset)), 0, "read something else");
  }

  #trim(log: FileLog): Promise<void> {
    const count = this.#random.between(0, this.#confirmed);
    const before = this.#appended[count]?.position ?? -1;
    if (before === -1) return Promise.resolve();
    this.#trimmed = Math.max(this.#trimmed, count);
    return log.trim(before);
  }

  #check(replayed: readonly Known[]): void {
    const numbers = this.#appended.map(({ number }) => number);
    const told = `${replayed.length} replayed, of ${numbers.length} appended, ${this.#confirmed}
      confirmed and ${this.#trimmed} trimmed`;
    const first = replayed[0] === undefined ? numbers.length : numbers.indexOf(replayed[0].number);
    if (replayed.length === 0) {
      assert.ok(this.#confirmed === this.#trimmed || this.#confirmed === 0, `lost: ${told}`);
      return;
    }
    assert.ok(first >= 0, `something that was never there, or was lost before: ${told}`);
    assert.ok(first <= this.#trimmed, `the beginning is lost: ${told}`);
    for (const [index, { number, position }] of replayed.entries()) {
      const known = this.#appended[first + index];
      assert.equal(number, known?.number, `not in order at ${index}: ${told}`);
      if (known!.position !== -1) assert.equal(position, known!.position, `moved: ${told}`);
    }
    assert.ok(first + replayed.length >= this.#confirmed, `confirmed and lost: ${told}`);
  }
}

function factsOf(number: number, random: Random): Uint8Array {
  const size = random.weighted({ small: 12, middle: 6, large: 1 });
  const most = { small: 60, middle: 700, large: 5000 }[size];
  const facts = Buffer.alloc(8 + random.below(most), number);
  facts.writeDoubleLE(number);
  return facts;
}

function numberOf(facts: Uint8Array): number {
  const number = Buffer.from(facts.slice(0, 8)).readDoubleLE();
  assert.ok(
    facts.subarray(8).every((byte) => byte === (number & 0xff)),
    "the facts are not those that were appended",
  );
  return number;
}
