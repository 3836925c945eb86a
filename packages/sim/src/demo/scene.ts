// What the demonstration shows: one queue and eight workers for three tenants. One of them is
// noisy, one is quiet, and one waits for a provider that takes five calls a second.

import { Engine, type Lease } from "@sluice/engine";
import { letterQueueConfig, parseQueue, whyText } from "@sluice/protocol";

const QUEUE = "mail";
const GATE = "provider:mail";
const SLOTS = 8;
const NOISY_JOBS = 10_000;
const THROTTLED_JOBS = 400;
const RATE = 5;
// The shown rates are counted over this long.
const RECENT_MS = 1_000;

export const TENANTS = ["noisy", "quiet", "throttled"] as const;
export type Tenant = (typeof TENANTS)[number];

export interface TenantView {
  readonly name: Tenant;
  readonly perSecond: number;
  readonly waiting: number;
  readonly done: number;
  // How long its last job waited for a worker, and the longest that one has.
  readonly waitedMs: number;
  readonly waitedMaxMs: number;
}

export interface SceneView {
  readonly atMs: number;
  readonly tenants: readonly TenantView[];
  readonly why: string;
  readonly tokens: number;
  readonly burst: number;
  readonly opensInMs: number;
  readonly coolsForMs: number;
}

interface Tally {
  added: number;
  done: number;
  dispatched: number;
  recent: number[];
  waitedMs: number;
  waitedMaxMs: number;
}

export class Scene {
  readonly #engine = new Engine({ seed: 1, letterQueue: letterQueueConfig });
  readonly #startedMs = performance.now();
  readonly #tallies = new Map<Tenant, Tally>();
  readonly #throttled: number[] = [];
  #timer: NodeJS.Timeout | undefined = undefined;
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor() {
    for (const name of TENANTS) {
      const tally = { added: 0, done: 0, dispatched: 0, recent: [], waitedMs: 0, waitedMaxMs: 0 };
      this.#tallies.set(name, tally);
    }
    this.#engine.setQueue(QUEUE, parseQueue(QUEUE, { tiers: 1 }).config, 0);
    this.#engine.setGate(GATE, { rate: RATE, burst: RATE }, 0);
  }

  start(): void {
    this.#engine.want(QUEUE, "workers", SLOTS, this.now);
    for (let i = 0; i < NOISY_JOBS; i++) this.#add("noisy");
    for (let i = 0; i < THROTTLED_JOBS; i++) this.#add("throttled");
    this.#addQuiet();
    this.#later(9_000, () => this.#coolDown());
    this.#serve();
  }

  stop(): void {
    clearTimeout(this.#timer);
    for (const timer of this.#timers) clearTimeout(timer);
  }

  get now(): number {
    return Math.floor(performance.now() - this.#startedMs);
  }

  #later(delayMs: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, delayMs);
    this.#timers.add(timer);
  }

  #add(tenant: Tenant): void {
    const now = this.now;
    const gates = tenant === "throttled" ? [GATE] : [];
    const { id } = this.#engine.add(
      QUEUE,
      { fairnessKey: tenant, gates, body: { tenant, addedAt: now } },
      now,
    );
    this.#tallies.get(tenant)!.added++;
    if (tenant === "throttled") this.#throttled.push(id);
  }

  #addQuiet(): void {
    this.#add("quiet");
    this.#serve();
    this.#later(400, () => this.#addQuiet());
  }

  // The provider asks for time, as providers do.
  #coolDown(): void {
    this.#engine.cooldown(GATE, 4_000, "429 from the provider", this.now);
    this.#serve();
  }

  // The whole of a broker's loop: serve what is due, then sleep until the engine says so.
  #serve(): void {
    clearTimeout(this.#timer);
    while (this.#engine.nextWake(this.now) <= this.now) {
      for (const lease of this.#engine.dispatch(this.now)) this.#work(lease);
    }
    const wakeAt = this.#engine.nextWake(this.now);
    if (wakeAt === Infinity) return;
    this.#timer = setTimeout(() => this.#serve(), Math.max(1, wakeAt - this.now));
  }

  #work(lease: Lease): void {
    const { tenant, addedAt } = lease.body as { tenant: Tenant; addedAt: number };
    const tally = this.#tallies.get(tenant)!;
    const now = this.now;
    tally.dispatched++;
    tally.recent.push(now);
    tally.waitedMs = now - addedAt;
    tally.waitedMaxMs = Math.max(tally.waitedMaxMs, tally.waitedMs);
    if (tenant === "throttled") this.#throttled.splice(this.#throttled.indexOf(lease.id), 1);
    // A mail takes between 40 and 70 ms.
    this.#later(40 + ((lease.id * 7) % 31), () => {
      this.#engine.ack(lease.id, lease.lease, this.now);
      tally.done++;
      this.#engine.want(QUEUE, "workers", SLOTS - this.#leased(), this.now);
      this.#serve();
    });
  }

  #leased(): number {
    return this.#engine.queueStats(QUEUE).running;
  }

  view(): SceneView {
    const now = this.now;
    const { tokens = 0, opensAt = now, cooldown } = this.#engine.gateStats(GATE, now);
    return {
      atMs: now,
      tenants: TENANTS.map((name) => this.#viewOf(name, now)),
      why: this.#why(now),
      tokens,
      burst: RATE,
      opensInMs: Math.max(0, opensAt - now),
      coolsForMs: cooldown === undefined ? 0 : cooldown.until - now,
    };
  }

  #viewOf(name: Tenant, now: number): TenantView {
    const tally = this.#tallies.get(name)!;
    tally.recent = tally.recent.filter((at) => at > now - RECENT_MS);
    const { done, waitedMs, waitedMaxMs } = tally;
    const waiting = tally.added - tally.dispatched;
    const perSecond = (tally.recent.length * 1_000) / Math.max(1, Math.min(now, RECENT_MS));
    return { name, perSecond, waiting, done, waitedMs, waitedMaxMs };
  }

  // What the engine says about the job that is next at the gate.
  #why(now: number): string {
    const first = this.#throttled[0];
    if (first === undefined) return "It has nothing left to send.";
    return whyText(this.#engine.why(first, now), now);
  }
}
