/** An engine with schedules whose plans tick at multiples of a period, for tests. */
import type { Fact } from "../facts/facts.ts";
import type { DueTick } from "../schedules/fire.ts";
import type { ScheduleConfig } from "../schedules/schedule.ts";
import type { ScheduleView } from "../schedules/schedules.ts";
import type { JobSpec } from "../types.ts";
import { rebuilt, TestEngine } from "./test-engine.ts";

export type Change = Partial<ScheduleConfig> & { periodMs?: number; spec?: JobSpec };

interface Plan {
  periodMs: number;
  spec: JobSpec;
}

/** Ticks that are listed one by one. */
const LISTED = 20;

export class ScheduledEngine extends TestEngine {
  readonly facts: Fact[];
  /** What was due before this was missed. */
  lateBefore = 0;

  constructor(facts: Fact[] = []) {
    super({ facts });
    this.facts = facts;
  }

  setSchedule(key: string, change: Change, now: number): void {
    const { periodMs = 1000, spec = {}, ...rest } = change;
    const config: ScheduleConfig = {
      queue: key.split("/")[0]!,
      catchUp: "one",
      catchUpWindowMs: 86_400_000,
      overlap: "skip",
      pauseOnFailure: false,
      carried: { periodMs, spec },
      ...rest,
    };
    const decidedUntil = Math.max(
      now + this.wall.aheadMs,
      this.schedules.get(key)?.decidedUntil ?? 0,
    );
    const next = (Math.floor(decidedUntil / periodMs) + 1) * periodMs;
    this.schedules.set(key, { config, decidedUntil, next, due: next }, now);
  }

  /** Does what a broker does: says which ticks are due, until none is. */
  fireAll(now: number): void {
    for (;;) {
      const due = this.schedules.takeDue(now, 2);
      if (due.length === 0) return;
      for (const schedule of due) this.#fire(schedule, now);
    }
  }

  #fire({ key, config, decidedUntil, held }: ScheduleView, now: number): void {
    const { periodMs, spec } = config.carried as Plan;
    const wall = now + this.wall.aheadMs;
    const ticks: DueTick[] = [];
    for (let tick = Math.floor(wall / periodMs) * periodMs; tick > decidedUntil; tick -= periodMs) {
      if (ticks.length === LISTED) {
        return this.#tell(key, ticks, tick, held, now);
      }
      ticks.unshift({ tick, due: tick, spec });
    }
    this.#tell(key, ticks, undefined, held, now);
  }

  #tell(
    key: string,
    ticks: readonly DueTick[],
    olderUntil: number | undefined,
    held: number | undefined,
    now: number,
  ): void {
    const { config, decidedUntil } = this.schedules.get(key)!;
    const { periodMs, spec } = config.carried as Plan;
    const last = Math.max(now + this.wall.aheadMs, decidedUntil);
    const next = (Math.floor(last / periodMs) + 1) * periodMs;
    const { lateBefore } = this;
    const told = { ticks, olderUntil, held: held === undefined ? undefined : spec };
    this.schedules.fire(key, { ...told, next, nextDue: next, lateBefore }, now);
  }

  /** What became of the ticks of a schedule, in order. */
  outcomes(key: string): string[] {
    return this.facts.flatMap((fact) =>
      fact.fact === "ticked" && fact.key === key ? [`${fact.tick} ${fact.outcome}`] : [],
    );
  }
}

/** Another engine with the same facts. */
export function rebuiltSchedules(facts: readonly Fact[]): ScheduledEngine {
  const engine = new ScheduledEngine();
  rebuilt(facts, engine);
  return engine;
}
