// Those who run the place: they pause, change limits, cool gates down, purge, delete and make
// again.

import type { Broker } from "../broker/broker.ts";
import { policyOf } from "../model/policy.ts";
import type { Random } from "../worlds/random.ts";
import { cancel, operate } from "./calls.ts";
import { makeLimits } from "./gate-limits.ts";
import type { Plan, QueuePlan } from "./plan.ts";
import type { Team } from "./team.ts";

const ACTS = {
  pause: 4,
  limits: 8,
  deleteGate: 2,
  cooldown: 6,
  clear: 2,
  report: 2,
  cancel: 10,
  cancelByKey: 3,
  retry: 4,
  redrive: 3,
  weight: 3,
  policy: 3,
  purge: 1,
  recreate: 1,
} as const;
type Act = keyof typeof ACTS;

export class Operators {
  isStopped = false;
  readonly #broker: Broker;
  readonly #random: Random;
  readonly #plan: Plan;
  readonly #team: Team;

  constructor(broker: Broker, random: Random, plan: Plan, team: Team) {
    this.#broker = broker;
    this.#random = random;
    this.#plan = plan;
    this.#team = team;
  }

  // The first calls of all: queues and gates.
  open(): void {
    for (const queue of this.#plan.queues) this.#makeQueue(queue);
    for (const { key, limits } of this.#plan.gates) {
      operate(this.#broker, `set ${key}`, (engine, now) => engine.setGate(key, limits, now));
    }
  }

  #makeQueue({ name, options }: QueuePlan): void {
    operate(this.#broker, `make ${name}`, (engine, now) =>
      engine.setQueue(name, policyOf(name, options), now),
    );
  }

  start(): void {
    this.#broker.parts.agenda.in(this.#random.between(500, 40_000), () => {
      if (this.isStopped) return;
      this.#do(this.#random.weighted(ACTS));
      this.start();
    });
  }

  #do(act: Act): void {
    const queue = this.#random.pick(this.#plan.queues);
    if (!this.#broker.ledger.queues.has(queue.name)) return;
    if (act === "limits" || act === "deleteGate") return this.#changeLimits(act);
    if (act === "cooldown" || act === "clear" || act === "report") return this.#signal(act);
    if (act === "pause" || act === "policy" || act === "weight") return this.#change(act, queue);
    if (act === "purge" || act === "recreate" || act === "redrive") return this.#clean(act, queue);
    this.#touchJob(act, queue);
  }

  #changeLimits(act: Act): void {
    const { key, kind } = this.#random.pick(this.#plan.gates);
    const limits = makeLimits(this.#random, kind);
    if (act === "limits") {
      const isShut = limits.rate !== undefined && this.#random.chance(0.1);
      const config = isShut ? { ...limits, rate: 0 } : limits;
      operate(this.#broker, `set ${key}`, (engine, now) => engine.setGate(key, config, now));
      if (!isShut) return;
    } else operate(this.#broker, `unset ${key}`, (engine, now) => engine.deleteGate(key, now));
    this.#soon(() =>
      operate(this.#broker, `set ${key}`, (engine, now) => engine.setGate(key, limits, now)),
    );
  }

  // Undoes what must not stay; a healed world has no such thing.
  #soon(act: () => void): void {
    this.#broker.parts.agenda.in(this.#random.between(10, 60_000), () => {
      if (!this.isStopped) act();
    });
  }

  #signal(act: Act): void {
    const key = this.#random.pick(this.#plan.gateKeys);
    const ms = this.#random.pick([0, 1, 500, 5_000, 30_000]);
    const ok = this.#random.chance(0.5);
    operate(this.#broker, `${act} ${key}`, (engine, now) => {
      if (act === "clear") engine.clearCooldown(key, now);
      else if (act === "report") engine.reportGate(key, ok, now);
      else engine.cooldown(key, ms, "asked to", now);
    });
    // The second signal is often the weaker one.
    if (act === "cooldown" && this.#random.chance(0.5)) {
      operate(this.#broker, `cooldown ${key}`, (engine, now) =>
        engine.cooldown(key, this.#random.between(0, 1_000), "asked again", now),
      );
    }
  }

  #change(act: Act, { name, lanes, hasPaths }: QueuePlan): void {
    const random = this.#random;
    if (act === "pause") {
      operate(this.#broker, `pause ${name}`, (engine, now) => engine.pause(name, now));
      return this.#soon(() => this.#resume(name));
    }
    const weight = random.between(1, 5);
    if (act === "weight") {
      const lane = random.pick(lanes);
      if (hasPaths || lane.weight !== undefined) return;
      return operate(this.#broker, `weigh ${name}`, (engine, now) =>
        engine.setLaneWeight(name, lane.key, weight, now),
      );
    }
    const leaseMs = random.pick([1_000, 10_000]);
    const jobs = random.between(10, 150);
    operate(this.#broker, `change ${name}`, (engine, now) => {
      const { capacity, ...config } = engine.queueConfig(name);
      engine.setQueue(name, { ...config, weight, leaseMs, capacity: { ...capacity, jobs } }, now);
    });
  }

  #resume(name: string): void {
    if (!this.#broker.ledger.queues.has(name)) return;
    operate(this.#broker, `resume ${name}`, (engine, now) => engine.resume(name, now));
  }

  #clean(act: Act, queue: QueuePlan): void {
    const { name } = queue;
    if (act === "redrive") {
      const dlq = `${name}.dlq`;
      if (!this.#broker.ledger.queues.has(dlq)) return;
      const count = this.#random.between(1, 20);
      return operate(this.#broker, `redrive ${name}`, (engine, now) =>
        engine.redrive(dlq, { count }, now),
      );
    }
    if (act === "purge") {
      return operate(this.#broker, `purge ${name}`, (engine, now) => engine.purge(name, now));
    }
    this.#broker.demand.forget(name);
    operate(this.#broker, `delete ${name}`, (engine, now) => engine.deleteQueue(name, now));
    this.#broker.parts.agenda.in(this.#random.pick([0, 5_000]), () => {
      this.#makeQueue(queue);
      this.#team.reconnect();
    });
  }

  #touchJob(act: Act, { name }: QueuePlan): void {
    const { ledger, promises } = this.#broker;
    if (act === "cancelByKey") {
      const key = `key-${this.#random.below(4)}`;
      return operate(this.#broker, "cancelByKey", (engine, now) =>
        engine.cancelByKey(name, key, now),
      );
    }
    const ids = act === "cancel" ? this.#cancellable() : [...ledger.ended.keys()];
    if (ids.length === 0) return;
    const id = this.#random.pick(ids);
    if (act === "cancel") return cancel(this.#broker, id);
    operate(this.#broker, `retry ${id}`, (engine, now) => {
      engine.retry(id, now);
      promises.reopened(id);
    });
  }

  // Often the first of a strand that waits for a gate: whoever comes next must be seen.
  #cancellable(): number[] {
    const { strands, jobs } = this.#broker.ledger;
    const heads: number[] = [];
    for (const { gates, head } of strands.values()) {
      if (head !== undefined && gates.length > 0) heads.push(head.id);
    }
    return heads.length > 0 && this.#random.chance(0.7) ? heads : [...jobs.keys()];
  }

  // Everything goes on, and no limit is left that would keep the backlog for long.
  heal(): void {
    this.isStopped = true;
    for (const queue of this.#plan.queues) {
      if (!this.#broker.ledger.queues.has(queue.name)) this.#makeQueue(queue);
      this.#resume(queue.name);
    }
    for (const { key, limits } of this.#plan.gates) {
      if (this.#plan.opensGates) {
        operate(this.#broker, `open ${key}`, (engine, now) =>
          engine.setGate(key, { rate: 1_000, burst: 1_000 }, now),
        );
      } else if (
        this.#broker.engine.gateStats(key.replace("*", "a"), this.#broker.now).config?.rate === 0
      ) {
        operate(this.#broker, `set ${key}`, (engine, now) => engine.setGate(key, limits, now));
      }
    }
  }
}
