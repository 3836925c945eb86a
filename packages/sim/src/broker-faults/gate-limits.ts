// The limits of gates over any interval, across restarts. A gate's era is the time in which its
// limits are certain: a new era begins when they change. A change without an answer ends the era
// until the next look.

import type { GateInfo, GateSettings } from "@sluice/protocol";
import { type Dispatch, excesses, tokensLeft, usedAfter } from "@sluice/protocol/conformance";
import { demand } from "../demand.ts";
import type { JobBook } from "./job-book.ts";
import { isHeld, type KnownJob, type OpenCall } from "./known-job.ts";
import type { Delivered, ItemAnswer } from "./record.ts";

const TOKEN_ERROR = 1e-3;

interface Gate {
  config: GateSettings | undefined;
  isCertain: boolean;
  // Changes of the limits that have no answer.
  changing: number;
  // The last call whose change is known to have been made: calls are made in order, and their
  // answers may come in another.
  changedBy: number;
  // Its era began at this time: what was granted then may have gone by other limits.
  since: number;
  grants: Dispatch[];
  // No job passes the gate between these times. The interval is empty when the cooldown was
  // cleared, or may have been.
  coolFrom: number;
  coolUntil: number;
  // The last call that may have cleared it.
  clearedBy: number;
}

export class GateLimits {
  readonly #jobs: JobBook;
  readonly #gates = new Map<string, Gate>();

  constructor(jobs: JobBook) {
    this.#jobs = jobs;
  }

  called({ n, call }: OpenCall): void {
    if (call.call === "setGate" || call.call === "deleteGate") {
      const gate = this.#gate(call.gate);
      gate.changing++;
      gate.isCertain = false;
    }
    if (call.call === "clearCooldown" || call.call === "deleteGate") {
      const gate = this.#gate(call.gate);
      gate.coolUntil = 0;
      gate.clearedBy = n;
    }
  }

  answered(open: OpenCall, items: readonly ItemAnswer[]): void {
    const { call, at } = open;
    if (call.call === "nack") {
      call.items.forEach(({ cooldown }, i) => {
        const item = items[i] ?? items[0]!;
        if (cooldown !== undefined && "ok" in item) this.#cool(cooldown.gate, open, cooldown.ms);
      });
      return;
    }
    const isDone = items[0] !== undefined && "ok" in items[0];
    if (call.call === "cooldown" && isDone) this.#cool(call.gate, open, call.ms);
    if (call.call !== "setGate" && call.call !== "deleteGate") return;
    const gate = this.#gate(call.gate);
    if (isDone && open.n > gate.changedBy) {
      gate.config = call.call === "setGate" ? call.config : undefined;
      gate.changedBy = open.n;
    }
    if (--gate.changing > 0) return;
    gate.grants = [];
    gate.since = at;
    gate.isCertain = isDone;
  }

  // The cooldown is withdrawn as soon as a call may have cleared it. A later cooldown never
  // shortens it.
  #cool(key: string, { n, at }: OpenCall, ms: number): void {
    const gate = this.#gate(key);
    if (n < gate.clearedBy) return;
    if (at + ms <= gate.coolUntil) return;
    gate.coolFrom = Math.max(at, gate.coolUntil > at ? gate.coolFrom : 0);
    gate.coolUntil = at + ms;
  }

  restarted(): void {
    for (const gate of this.#gates.values()) gate.changing = 0;
  }

  // Jobs of a dead letter queue pass no gates.
  granted(job: KnownJob, { queue, tier }: Delivered, at: number): void {
    if (queue !== job.home) return;
    for (const key of job.note.gates ?? []) {
      const gate = this.#gate(key);
      demand(at <= gate.coolFrom || at >= gate.coolUntil, "gates: cooldown", () => {
        return `job ${job.id} passes ${key} at ${at}, which cools until ${gate.coolUntil}`;
      });
      if (at <= gate.since) continue;
      // A later grant may have been delivered before.
      const index = gate.grants.findLastIndex((grant) => grant.at <= at) + 1;
      gate.grants.splice(index, 0, { at, cost: job.note.cost ?? 1, tier, endedAt: at });
      if (gate.isCertain && gate.config !== undefined) this.#judge(key, gate, job, at);
    }
  }

  #judge(key: string, { config = {}, grants }: Gate, job: KnownJob, at: number): void {
    const { concurrency, interval, ...others } = config;
    // When jobs end is not known for certain: who holds the gate is asked below.
    const known = interval?.from === "start" ? { ...others, interval } : others;
    const [excess] = excesses(known, grants);
    const who = (): string => `job ${job.id} passes ${key} at ${at}, limits ${show(config)}`;
    demand(excess === undefined, `gates: ${excess?.part}`, () => `${who()}: ${excess?.text}`);
    if (concurrency === undefined) return;
    demand(this.#held(key, job, at) < concurrency, "gates: concurrency", who);
  }

  // Jobs that certainly hold the gate, other than this one.
  #held(key: string, but: KnownJob | undefined, at: number): number {
    let held = 0;
    for (const job of this.#jobs.live()) {
      if (job === but || job.lease?.queue !== job.home || job.lease.grantedAt > at) continue;
      if (job.note.gates?.includes(key) === true && isHeld(job, at)) held++;
    }
    return held;
  }

  looked(infos: readonly GateInfo[], at: number): void {
    const known = new Map(infos.map((info) => [info.key, info]));
    for (const [key, gate] of this.#gates) {
      const info = known.get(key);
      if (gate.isCertain) this.#compare(key, gate, info, at);
      else {
        gate.config = info?.config;
        gate.grants = [];
        gate.since = at;
        gate.isCertain = true;
      }
      const until = info?.cooldown?.until ?? 0;
      demand(gate.coolUntil <= at || until >= gate.coolUntil, "gates: cooldown", () => {
        return `${key} cools until ${gate.coolUntil}, after a restart until ${until}`;
      });
    }
  }

  // A restart neither fills a bucket nor empties a window.
  #compare(key: string, gate: Gate, info: GateInfo | undefined, at: number): void {
    const { config } = gate;
    const isSame = config === undefined || covers(info?.config, config);
    demand(isSame && (config !== undefined || info?.config === undefined), "gates: limits", () => {
      return `${key} has the limits ${show(info?.config)}, they were ${show(config)}`;
    });
    if (config?.rate !== undefined) {
      const level = tokensLeft(config, gate.grants, at);
      demand((info?.tokens ?? 0) <= level + TOKEN_ERROR, "gates: rate", () => {
        return `${key} has ${info?.tokens} tokens after a restart, and at most ${level} are left`;
      });
    }
    for (const [i, { per }] of (config?.windows ?? []).entries()) {
      const least = usedAfter(gate.grants, at - per);
      demand((info?.windows[i]?.used ?? 0) >= least, "gates: window", () => {
        return `${key} knows ${info?.windows[i]?.used} in ${per} ms, and ${least} have passed`;
      });
    }
    const held = this.#held(key, undefined, at);
    demand((info?.inFlight ?? 0) >= held, "gates: concurrency", () => {
      return `${key} knows ${info?.inFlight} in flight, and ${held} are`;
    });
  }

  #gate(key: string): Gate {
    let gate = this.#gates.get(key);
    if (gate === undefined) {
      gate = { ...AS_NEW, grants: [] };
      this.#gates.set(key, gate);
    }
    return gate;
  }
}

const AS_NEW: Omit<Gate, "grants"> = {
  config: undefined,
  isCertain: true,
  changing: 0,
  changedBy: -1,
  since: 0,
  coolFrom: 0,
  coolUntil: 0,
  clearedBy: -1,
};

// Whether all that was set is there; what was not is at its default.
function covers(whole: unknown, part: unknown): boolean {
  if (typeof part !== "object" || part === null) return Object.is(whole, part);
  if (typeof whole !== "object" || whole === null) return false;
  return Object.entries(part).every(([name, value]) => {
    return value === undefined || covers((whole as Record<string, unknown>)[name], value);
  });
}

function show(config: GateSettings | undefined): string {
  return JSON.stringify(config) ?? "none";
}
