// A broker in simulated time: the engine, a disk, a clock and one timer.
//
// It does what the real one will do. A call goes to the engine at once; its answer, and every lease
// that it let go, leaves only when the facts that it wrote are synced. After each call the engine
// is served until it says that there is nothing to do before a later time, and the timer is set to
// that time. A crash throws the engine away and builds another from what the disk has kept.

import type { Engine, Fact, Lease } from "@sluice/engine";
import { whyText } from "@sluice/protocol";
import type { Outcome } from "../checks/answers.ts";
import { compareAll, compareStats } from "../checks/compare.ts";
import { Ledger } from "../checks/ledger.ts";
import { Promises } from "../checks/promises.ts";
import { readFact } from "../checks/read-fact.ts";
import { judgeTimers, lostWake } from "../checks/wakes.ts";
import type { Disk } from "../disk/disk.ts";
import { Broken, demand } from "../model/broken.ts";
import type { Trace } from "../run/trace.ts";
import type { Agenda } from "../time/agenda.ts";
import type { Clock } from "../time/clock.ts";
import type { Random } from "../worlds/random.ts";
import { Demand } from "./demand.ts";

export type MakeEngine = (options: { seed: number; facts: Fact[] }) => Engine;
export type Receive = (lease: Lease) => void;

export interface BrokerParts {
  readonly seed: number;
  readonly agenda: Agenda;
  readonly clock: Clock;
  readonly disk: Disk;
  readonly random: Random;
  readonly trace: Trace;
  readonly makeEngine: MakeEngine;
  // A planted bug: answers do not wait for the disk.
  readonly answersEarly: boolean;
  // Facts that a snapshot holds are forgotten, as in a run of days.
  readonly trims: boolean;
}

interface Checkpoint {
  readonly position: number;
  readonly ledger: Ledger;
  readonly snapshot: readonly Fact[];
}

// Calls to `dispatch` in one instant, after which the engine has surely lost its way.
const SERVES_MAX = 10_000;
const FACTS_PER_CHECKPOINT = 1_500;
// Requests between two looks at what costs more to look at.
const LOOK_EVERY = 16;

export class Broker {
  readonly parts: BrokerParts;
  engine: Engine;
  ledger = new Ledger();
  readonly demand = new Demand();
  readonly promises = new Promises();
  readonly receivers = new Map<string, Receive>();
  // The engine's time: what it was told, and never less than before.
  now = 0;
  crashes = 0;
  dispatches = 0;
  readonly #facts: Fact[] = [];
  #life = 0;
  #requests = 0;
  #wakeAt = Infinity;
  #timer = 0;
  #checkpoint: Checkpoint;
  readonly #openGroups = new Set<string>();

  constructor(parts: BrokerParts) {
    this.parts = parts;
    this.engine = this.#makeEngine();
    this.#checkpoint = { position: 0, ledger: this.ledger.clone(), snapshot: [] };
  }

  #makeEngine(): Engine {
    const { makeEngine, seed } = this.parts;
    this.#facts.length = 0;
    return makeEngine({ seed, facts: this.#facts });
  }

  // Reads what the engine has told in a call.
  #drain(): void {
    for (const fact of this.#facts.splice(0)) this.#hear(fact);
  }

  #hear(fact: Fact): void {
    const { disk, trace } = this.parts;
    traceFact(trace, fact);
    if (fact.fact === "leased" && fact.worker !== "") {
      const queue = this.ledger.jobs.get(fact.id)?.queue ?? "";
      const slots = this.demand.of(queue, fact.worker);
      demand(slots > 0, "workers", () => `${fact.worker} of ${queue} has no free slot`);
      this.demand.set(queue, fact.worker, slots - 1);
    }
    disk.append(fact);
    readFact(this.ledger, fact);
  }

  // Makes a call; `answer` is told the outcome when it is durable, unless a crash comes first.
  request<T>(
    name: string,
    make: (engine: Engine, now: number) => T,
    expect: (outcome: Outcome<T>) => void,
    answer: (outcome: Outcome<T>) => void = () => {},
  ): void {
    this.#lookBefore();
    const outcome = outcomeOf(() => make(this.engine, this.parts.clock.read()));
    this.#drain();
    this.parts.trace.add(this.now, name, "code" in outcome ? outcome.code : "ok");
    expect(outcome);
    this.serve();
    this.#confirm(() => answer(outcome));
    this.#lookAfter();
  }

  #confirm(release: () => void): void {
    const life = this.#life;
    if (this.parts.answersEarly) release();
    else this.parts.disk.whenSynced(() => life === this.#life && release());
  }

  // The engine must not need a call to see what has fallen due.
  #lookBefore(): void {
    this.now = Math.max(this.now, this.parts.clock.read());
    const lost = lostWake(this.ledger, this.demand, this.now, this.#wakeAt);
    demand(lost === undefined, "wake-ups", () => {
      const { id, queue, gates } = lost!;
      return (
        `at ${this.now} job ${id} of queue ${queue} waits for nothing, its gates [${gates}] open, ` +
        `a worker is free, and the engine sleeps until ${this.#wakeAt}; ` +
        `it says: ${whyText(this.engine.why(id, this.now), this.now)}`
      );
    });
    this.#requests++;
    if (this.#requests % LOOK_EVERY === 0) judgeTimers(this.ledger, this.now, this.#wakeAt);
  }

  #lookAfter(): void {
    if (this.#requests % LOOK_EVERY === 0) compareStats(this.engine, this.ledger);
    for (const name of this.ledger.groups.keys()) this.#openGroups.add(name);
    for (const name of this.#openGroups) {
      const isOpen = this.ledger.groups.has(name);
      const isEnded = this.engine.group(name)?.ended && this.ledger.endedGroups.has(name);
      demand(isEnded === !isOpen, "groups", () => {
        return `group ${name} has ${isOpen ? "" : "no "}open members and ended: ${isEnded}`;
      });
      if (!isOpen) this.#openGroups.delete(name);
    }
  }

  // Lets the engine do what it has to do now, and sets the timer.
  serve(): void {
    const reading = this.parts.clock.read();
    this.now = Math.max(this.now, reading);
    for (let served = 0; this.engine.nextWake(reading) <= this.now; served++) {
      if (served > SERVES_MAX)
        throw new Broken("wake-ups", `there is no end of work at ${this.now}`);
      const leases = this.engine.dispatch(reading, this.parts.random.pick([1, 3, 1_000]));
      this.#drain();
      if (leases.length > 0) this.#send(leases);
    }
    this.setTimer();
  }

  #send(leases: readonly Lease[]): void {
    const at = this.now;
    for (const lease of leases) this.judgeLease(lease);
    this.#confirm(() => {
      for (const lease of leases) this.#deliver(lease, at);
    });
  }

  // What a worker is handed is what the facts say.
  judgeLease({ id, lease, attempt, tier, queue, expiresAt, body }: Lease): void {
    this.dispatches++;
    const job = this.ledger.jobs.get(id);
    const isSame =
      job?.state === "leased" &&
      job.lease === lease &&
      job.attempt === attempt &&
      job.tier === tier &&
      job.queue === queue &&
      job.time === expiresAt &&
      job.body === body;
    demand(isSame, "leases", () => `lease ${lease} of job ${id} is not what the facts say`);
  }

  #deliver(lease: Lease, at: number): void {
    this.promises.delivered(lease, at);
    this.receivers.get(`${lease.queue}/${lease.worker}`)?.(lease);
  }

  setTimer(): void {
    const { agenda, clock } = this.parts;
    // The engine takes this time for its own too, even if the clock is set back the next moment.
    this.now = Math.max(this.now, clock.read());
    const wakeAt = this.engine.nextWake(this.now);
    this.#wakeAt = wakeAt;
    const timer = ++this.#timer;
    const delayMs = clock.msUntil(wakeAt);
    if (delayMs === Infinity) return;
    agenda.in(delayMs, () => {
      if (timer === this.#timer) this.#wake(wakeAt);
    });
  }

  #wake(wakeAt: number): void {
    if (this.parts.clock.read() < wakeAt) return this.setTimer();
    this.parts.trace.add(this.now, "wake", wakeAt);
    this.serve();
    this.#lookAfter();
    const isLong = this.parts.disk.end - this.#checkpoint.position > FACTS_PER_CHECKPOINT;
    if (isLong && this.parts.random.chance(0.3)) this.remember();
  }

  // Keeps the state as a snapshot, if nothing is unsynced.
  remember(): void {
    const { disk, trims } = this.parts;
    if (disk.synced < disk.end) return;
    const snapshot = [...this.engine.snapshot()];
    this.#checkpoint = { position: disk.end, ledger: this.ledger.clone(), snapshot };
    this.promises.forgetEnded(this.ledger);
    if (trims) disk.trim(disk.end);
  }

  crash(): void {
    const { clock, disk, random, trace } = this.parts;
    const lost = disk.crash();
    trace.add(this.now, "crash", lost);
    this.crashes++;
    this.#life++;
    this.#timer++;
    this.demand.clear();
    this.#readAgain();
    this.engine = this.#makeEngine();
    const isWhole = disk.trimmed === 0 && random.chance(0.5);
    const from = isWhole ? 0 : this.#checkpoint.position;
    if (!isWhole) for (const fact of this.#checkpoint.snapshot) this.engine.apply(fact);
    for (const fact of disk.facts.slice(from - disk.trimmed)) this.engine.apply(fact);
    this.now = Math.max(this.ledger.now, clock.read());
    this.#openGroups.clear();
    this.#endPurges();
    compareAll(this.engine, this.ledger, this.now);
    this.promises.afterCrash(this.ledger);
    this.serve();
  }

  // What was purged is gone in the ledger at once; an engine that has just been rebuilt may have
  // yet to get to it.
  #endPurges(): void {
    for (let ticks = 0; this.ledger.isPurging; ticks++) {
      if (ticks > SERVES_MAX) throw new Broken("purges", `there is no end of one at ${this.now}`);
      this.engine.tick(this.now);
      this.#drain();
    }
  }

  #readAgain(): void {
    const { disk } = this.parts;
    this.ledger = this.#checkpoint.ledger.clone();
    const from = this.#checkpoint.position - disk.trimmed;
    for (const fact of disk.facts.slice(from)) readFact(this.ledger, fact);
    this.ledger.shares.restart();
  }
}

function outcomeOf<T>(make: () => T): Outcome<T> {
  try {
    return { value: make() };
  } catch (error) {
    // By name: an engine with a planted bug brings its own class of refusals.
    if ((error as Error).name === "Refusal") return { code: (error as { code: string }).code };
    throw error;
  }
}

function traceFact(trace: Trace, fact: Fact): void {
  if ("id" in fact) {
    const more = "until" in fact ? (fact.until ?? 0) : 0;
    trace.add(fact.at, fact.fact, fact.id, more, "lease" in fact ? fact.lease : 0);
  } else if (fact.fact === "job") {
    const { id, queue, state, tier, gates, cost, time, path } = fact.job;
    const what = `tier ${tier} cost ${cost} of ${path.join("/")}`;
    trace.add(fact.at, "job", id, queue, state, time, what, gates.join());
  } else {
    const of = "key" in fact ? String(fact.key) : "name" in fact ? fact.name : "";
    trace.add(fact.at, fact.fact, of, "config" in fact ? JSON.stringify(fact.config ?? {}) : "");
  }
}
