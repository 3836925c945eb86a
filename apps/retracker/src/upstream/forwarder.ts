/**
 * One forwarder and what is known of it.
 *
 *   active     announces are queued for it
 *   suspended  it said that it has too much to do: its queued jobs wait for `suspendedUntil`, new
 *              ones are not made
 *   disabled   it does not work: its jobs are cancelled. At `probeAt` one announce tries it, after
 *              5, 15 and 60 minutes and then every 6 hours, until one is answered
 *   off        switched off by hand, until it is switched on by hand
 *
 * active ↔ suspended by 429 and 503 and by time; active → disabled by errors that do not pass by
 * themselves; disabled → active by a probe; any ↔ off by hand.
 */
import type { ForwarderSpec } from "./forwarder-list.ts";

export type ForwarderState = "active" | "suspended" | "disabled" | "off";

/** What survives a restart. */
export interface KeptForwarder {
  readonly state: "active" | "disabled" | "off";
  readonly reason: string;
  readonly since: number;
  readonly probeAt: number;
  readonly probeStep: number;
  readonly suspendedUntil: number;
  readonly failedJobs: number;
  /** Hashes that it has refused for good, with the times. */
  readonly refusals: readonly (readonly [hash: string, at: number])[];
}

const MINUTE_MS = 60_000;
const PROBE_MS = [5 * MINUTE_MS, 15 * MINUTE_MS, 60 * MINUTE_MS, 360 * MINUTE_MS] as const;
const REFUSALS_TO_DISABLE = 3;
const REFUSALS_WITHIN_MS = 60 * MINUTE_MS;
/** How much one answer moves the average. */
const AVERAGE_SHARE = 0.2;

export class Forwarder {
  spec: ForwarderSpec;
  #state: KeptForwarder["state"] = "active";
  reason = "";
  since = 0;
  probeAt = 0;
  #probeStep = 0;
  suspendedUntil = 0;
  #failedJobs = 0;
  #refusals: (readonly [string, number])[] = [];
  /** A probe is due, and the next announce may be it. */
  isProbeDue = false;
  averageMs = 0;
  lastIntervalSeconds = 0;
  answers = 0;
  failures = 0;
  /** Why the last announce that did not succeed did not, and when; `at` is 0 when none did. */
  lastFailure = { reason: "", at: 0 };
  droppedFull = 0;

  constructor(spec: ForwarderSpec) {
    this.spec = spec;
  }

  get name(): string {
    return this.spec.name;
  }

  stateAt(now: number): ForwarderState {
    return this.#state === "active" && this.suspendedUntil > now ? "suspended" : this.#state;
  }

  answered(ms: number, intervalSeconds: number): void {
    this.answers++;
    this.averageMs =
      this.averageMs === 0 ? ms : this.averageMs * (1 - AVERAGE_SHARE) + ms * AVERAGE_SHARE;
    this.lastIntervalSeconds = intervalSeconds;
    this.#failedJobs = 0;
  }

  /** Answers whether these are too many in a row. */
  failedJob(threshold: number): boolean {
    this.failures++;
    return ++this.#failedJobs >= threshold;
  }

  /** Answers whether it has refused too many hashes for good. */
  refusedForEver(hash: string, now: number): boolean {
    this.#refusals = this.#refusals.filter(
      ([refused, at]) => refused !== hash && now - at < REFUSALS_WITHIN_MS,
    );
    this.#refusals.push([hash, now]);
    return this.#refusals.length >= REFUSALS_TO_DISABLE;
  }

  /** For people: an active forwarder may fail too. */
  noteFailure(reason: string, now: number): void {
    this.lastFailure = { reason, at: now };
  }

  suspend(until: number): void {
    this.suspendedUntil = Math.max(this.suspendedUntil, until);
  }

  /**
   * A probe that fails makes the next one come later. Announces that were under way when it became
   * disabled say nothing new, and one that is switched off by hand stays so: answers false then.
   */
  disable(reason: string, now: number, isProbe = false): boolean {
    if (this.#state === "off" || (this.#state === "disabled" && !isProbe)) return false;
    if (this.#state === "disabled")
      this.#probeStep = Math.min(this.#probeStep + 1, PROBE_MS.length - 1);
    else {
      this.#probeStep = 0;
      this.since = now;
    }
    this.#state = "disabled";
    this.reason = reason;
    this.isProbeDue = false;
    this.probeAt = now + PROBE_MS[this.#probeStep]!;
    return true;
  }

  enable(now: number): void {
    this.#state = "active";
    this.reason = "";
    this.since = now;
    this.probeAt = 0;
    this.#probeStep = 0;
    this.#failedJobs = 0;
    this.#refusals = [];
    this.isProbeDue = false;
  }

  switchOff(now: number): void {
    this.#state = "off";
    this.reason = "switched off by hand";
    this.since = now;
    this.probeAt = 0;
  }

  toKept(): KeptForwarder {
    return {
      state: this.#state,
      reason: this.reason,
      since: this.since,
      probeAt: this.probeAt,
      probeStep: this.#probeStep,
      suspendedUntil: this.suspendedUntil,
      failedJobs: this.#failedJobs,
      refusals: this.#refusals,
    };
  }

  restore(kept: KeptForwarder): void {
    this.#state = kept.state;
    this.reason = kept.reason;
    this.since = kept.since;
    this.probeAt = kept.probeAt;
    this.#probeStep = kept.probeStep;
    this.suspendedUntil = kept.suspendedUntil;
    this.#failedJobs = kept.failedJobs;
    this.#refusals = [...kept.refusals];
  }
}
