import type { DueTicks, Engine, Fact, ScheduleView, TickOutcome } from "@sluice/engine";
import type { ScheduleStats } from "@sluice/protocol";
import { CATCH_UP_JOBS_MAX, PLAN_RETRY_MS, TICKS_PER_TURN, TICKS_TOLD_MAX } from "../limits.ts";
import type { Policies } from "../policy/policies.ts";
import { filledSpecs } from "./filled-specs.ts";
import { jobOf, planOf } from "./scheduled-jobs.ts";

/** Schedules whose times are computed again in one turn after the start. */
const RECKONED_PER_TURN = 200;

interface TickParts {
  readonly engine: Engine;
  readonly policies: Policies;
  now(): number;
  wake(): void;
}

/**
 * Lets schedules tick. The engine knows which of them are due. This class computes which ticks have
 * passed and which is next, and the engine decides what happens to them.
 */
export class ScheduleTicks {
  readonly #of: TickParts;
  readonly #outcomes = new Map<TickOutcome, number>();
  /** Since when the clock on the wall is followed: what was due before was missed. */
  #since = 0;
  #isStopped = false;
  /** There are no schedules, so there is nothing to look at before one is set. */
  isIdle = false;

  constructor(of: TickParts) {
    this.#of = of;
  }

  /** The broker runs from now on. Zones may have changed: all next times are computed again. */
  async begin(): Promise<void> {
    this.stepped();
    const { engine, now, wake } = this.#of;
    for (let after = ""; !this.#isStopped; ) {
      const some = engine.schedules.scan("", after, RECKONED_PER_TURN);
      for (const schedule of some) this.#reckon(schedule, now());
      const last = some.at(-1);
      if (last === undefined) return;
      after = last.key;
      wake();
      await new Promise(setImmediate);
    }
  }

  #reckon(schedule: ScheduleView, now: number): void {
    const { config, decidedUntil, key, made } = schedule;
    if (config.limit !== undefined && made >= config.limit) return;
    try {
      const plan = planOf(schedule);
      const next = plan.next(decidedUntil);
      const due = next && plan.dueAt(next);
      if (next === schedule.next && due === schedule.due) return;
      this.#of.engine.schedules.setNext(key, next, due, now);
    } catch {
      // It is tried again when it is due.
    }
  }

  /** The clock on the wall has stepped. */
  stepped(): void {
    this.#since = this.#wall();
  }

  stop(): void {
    this.#isStopped = true;
  }

  hear(fact: Extract<Fact, { fact: "schedule" | "ticked" }>): void {
    if (fact.fact === "schedule") this.isIdle = false;
    else this.#outcomes.set(fact.outcome, (this.#outcomes.get(fact.outcome) ?? 0) + 1);
  }

  stats(): ScheduleStats {
    const ticks = Object.fromEntries(this.#outcomes) as ScheduleStats["ticks"];
    return { count: this.#of.engine.schedules.size, ticks };
  }

  /** Decides what is due, as much of it as one turn may; the engine wakes for the rest. */
  look(): void {
    const { engine, now } = this.#of;
    this.isIdle = engine.schedules.size === 0;
    if (this.isIdle) return;
    for (let left = TICKS_PER_TURN; left > 0; ) {
      const due = engine.schedules.takeDue(now(), Math.ceil(left / 4));
      if (due.length === 0) return;
      for (const schedule of due) left -= this.#fire(schedule);
    }
  }

  /** Answers how many ticks it reckoned. */
  #fire(schedule: ScheduleView): number {
    const { engine, now, policies, wake } = this.#of;
    const { key, config } = schedule;
    try {
      const due = this.#dueTicks(schedule);
      const specs = [...due.ticks.map(({ spec }) => spec), ...(due.held ? [due.held] : [])];
      const filled = filledSpecs(policies, engine, config.queue, specs);
      // Specs are filled in place.
      if (!(filled instanceof Promise)) engine.schedules.fire(key, due, now());
      else {
        void filled.then(() => {
          if (!this.#isStopped) engine.schedules.fire(key, due, now());
          wake();
        });
      }
      return 1 + due.ticks.length;
    } catch {
      engine.schedules.postpone(key, PLAN_RETRY_MS, now());
      return 1;
    }
  }

  #dueTicks(schedule: ScheduleView): DueTicks {
    const { config, decidedUntil, held } = schedule;
    const plan = planOf(schedule);
    const wall = this.#wall();
    const most = config.catchUp === "all" ? CATCH_UP_JOBS_MAX : TICKS_TOLD_MAX;
    const { ticks: passed, olderUntil } = plan.passed(decidedUntil, wall, most);
    const ticks = passed.map((tick) => {
      return { tick, due: plan.dueAt(tick), spec: jobOf(schedule, tick) };
    });
    // Jitter may put the last one off.
    const late = (ticks.at(-1)?.due ?? 0) > wall ? ticks.pop() : undefined;
    const next = late?.tick ?? plan.next(ticks.at(-1)?.tick ?? olderUntil ?? decidedUntil);
    const nextDue = next && plan.dueAt(next);
    const heldJob = held === undefined ? undefined : jobOf(schedule, held);
    return { config, ticks, olderUntil, held: heldJob, next, nextDue, lateBefore: this.#since };
  }

  #wall(): number {
    const { engine, now } = this.#of;
    return now() + engine.wall.aheadMs;
  }
}
