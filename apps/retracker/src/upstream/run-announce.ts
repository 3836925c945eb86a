/**
 * Runs one job: sends the announce and does what its outcome asks for. A retry is a new, delayed
 * job, so that no worker waits for it; a suspension is a cooldown of the forwarder's gate.
 */
import { type Clock, RetryAfter } from "sluice";
import { DEFERRALS_MAX, NUMWANT_MAX } from "../limits.ts";
import type { Settings } from "../settings/settings.ts";
import { type Announce, COMPLETED, endpointOf, STOPPED } from "../wire/announce.ts";
import { fromHex } from "../wire/hex.ts";
import { type AnnounceJob, announceOf, endpointOfJob, isAside } from "./announce-job.ts";
import type { AnnounceQueue } from "./announce-queue.ts";
import { type Announcer, pairOf } from "./announcer.ts";
import type { Forwarder } from "./forwarder.ts";
import { type Forwarders, gateOf } from "./forwarders.ts";
import type { Answered, Outcome } from "./outcome.ts";
import type { Refusals } from "./refusals.ts";
import type { Registration, Registry } from "./registry.ts";

const MINUTE_MS = 60_000;
/** From this many minutes on, a wish for a later time is not a retry but the next announce. */
const DEFERRAL_MINUTES = 10;
const FAILED_AGAIN_MS = 60_000;

export interface RunnerOptions {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly queue: AnnounceQueue;
  readonly registry: Registry;
  readonly forwarders: Forwarders;
  readonly refusals: Refusals;
  readonly announcer: Announcer;
  localPeer(hash: string, endpoint: string): Announce | undefined;
  mayLeave(hash: string, forwarder: string): boolean;
  send(sent: Sent): Promise<Outcome>;
}

export interface Sent {
  readonly forwarder: Forwarder;
  readonly announce: Announce;
  /** What the forwarder calls us, where the job knows it. */
  readonly trackerId: string | undefined;
  readonly signal: AbortSignal;
}

interface Run {
  readonly job: AnnounceJob;
  readonly announce: Announce;
  readonly forwarder: Forwarder;
}

export class AnnounceRunner {
  readonly #options: RunnerOptions;
  /** Ends of running announces, for the events that must come after them. */
  readonly #ends = new Map<string, Promise<void>>();

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  async run(job: AnnounceJob, id: string, signal: AbortSignal): Promise<void> {
    const { announce } = this.#start(job) ?? {};
    if (announce === undefined) return this.#unmark(job, id);
    const pair = pairOf(announce, job.forwarder);
    const previous = this.#ends.get(pair);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ends.set(pair, promise);
    const ended = this.#options.announcer.runs(announce, job.forwarder);
    try {
      await previous;
      // The announce before it may have been answered with "never", or have disabled the forwarder.
      const run = this.#start(job);
      if (run === undefined) return this.#unmark(job, id);
      await this.#perform(run, id, signal);
    } finally {
      if (this.#ends.get(pair) === promise) this.#ends.delete(pair);
      ended();
      resolve();
    }
  }

  /** What is to be sent, or undefined when there is nothing to send to or about any more. */
  #start(job: AnnounceJob): Run | undefined {
    const forwarder = this.#options.forwarders.find(job.forwarder);
    const state = forwarder?.stateAt(this.#options.clock.now());
    if (forwarder === undefined || state === "off") return undefined;
    if (state === "disabled" && job.isProbe !== true) return undefined;
    const queued = announceOf(job);
    // The lists may have changed since it was queued, and the forwarder may have said "never".
    if (!this.#options.mayLeave(queued.hash, job.forwarder)) return undefined;
    // An event says what was so when it happened, whatever has become of the peer since.
    if (isEvent(job)) return { job, forwarder, announce: queued };
    const local = this.#options.localPeer(queued.hash, endpointOf(queued));
    if (local === undefined) return undefined;
    const announce = { ...local, event: job.event, numwant: NUMWANT_MAX };
    return { job, forwarder, announce };
  }

  async #perform(run: Run, id: string, signal: AbortSignal): Promise<void> {
    const { settings } = this.#options;
    const timeoutMs = run.forwarder.spec.timeoutMs ?? settings.forward_timeout * 1000;
    const from = performance.now();
    const outcome = await this.#options.send({
      forwarder: run.forwarder,
      announce: run.announce,
      trackerId: run.job.trackerId === undefined ? undefined : fromHex(run.job.trackerId),
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    // Given back by a worker that closes: the restart sends it again, but not after "never".
    if (outcome.kind !== "never") signal.throwIfAborted();
    if (run.job.isProbe === true) await this.#judgeProbe(run, outcome);
    await this.#apply(run, outcome, performance.now() - from);
    this.#unmark(run.job, id);
  }

  /** Any answer shows that the forwarder is up; only silence and errors do not. */
  async #judgeProbe({ forwarder }: Run, outcome: Outcome): Promise<void> {
    const { forwarders, clock } = this.#options;
    if (forwarder.stateAt(clock.now()) !== "disabled") return;
    const isDown = outcome.kind === "retry" || outcome.kind === "disable";
    if (isDown) await forwarders.disable(forwarder, outcome.reason, true);
    else await forwarders.enable(forwarder);
  }

  async #apply(run: Run, outcome: Outcome, ms: number): Promise<void> {
    const { forwarders, settings } = this.#options;
    const { forwarder } = run;
    if (outcome.kind === "answer") return this.#answered(run, outcome, ms);
    forwarder.noteFailure(outcome.reason, this.#options.clock.now());
    if (outcome.kind === "suspend") return this.#suspend(run, outcome);
    if (outcome.kind === "disable") return forwarders.disable(forwarder, outcome.reason);
    if (outcome.kind === "later") return this.#later(run, outcome.minutes, outcome.reason);
    if (outcome.kind === "never") return this.#never(run);
    if (outcome.kind === "failed") return this.#failed(run, outcome.reason);
    if (run.job.isProbe === true) return;
    const tries = run.job.tries + 1;
    if (tries >= settings.forwarder_retry_attempts) return this.#failed(run, outcome.reason);
    const delayMs = settings.forwarder_retry_base_ms * 2 ** run.job.tries;
    await this.#again(run, { ...run.job, tries }, delayMs);
  }

  async #answered({ forwarder, announce }: Run, outcome: Answered, ms: number): Promise<void> {
    const { registry, clock } = this.#options;
    const { hash } = announce;
    const endpoint = endpointOf(announce);
    forwarder.answered(ms, outcome.intervalSeconds);
    if (announce.event === STOPPED)
      return registry.dropRegistration(hash, endpoint, forwarder.name);
    const now = clock.now();
    await Promise.all([
      this.#note(announce, forwarder, (registration) => {
        registration.next = now + outcome.intervalSeconds * 1000;
        registration.failures = 0;
        registration.isKnown = true;
      }),
      registry.tell(hash, forwarder.name, outcome, now),
    ]);
  }

  /** Its gate cools down, and this job with the others waits behind it. */
  async #suspend(run: Run, { ms, reason }: { ms: number; reason: string }): Promise<void> {
    const { forwarder } = run;
    const leastMs = this.#options.settings.forwarder_suspend_seconds * 1000;
    const waitMs = Math.max(ms, leastMs);
    forwarder.reason = reason;
    await this.#options.forwarders.suspend(forwarder, waitMs);
    throw new RetryAfter(waitMs, { gate: gateOf(forwarder.name), reason });
  }

  async #later(run: Run, minutes: number, reason: string): Promise<void> {
    const { clock } = this.#options;
    const waitMs = minutes * MINUTE_MS;
    if (minutes >= DEFERRAL_MINUTES) {
      await this.#note(run.announce, run.forwarder, (registration) => {
        registration.next = clock.now() + waitMs;
      });
      return;
    }
    const deferrals = run.job.deferrals + 1;
    if (deferrals > DEFERRALS_MAX) return this.#failed(run, reason);
    await this.#again(run, { ...run.job, deferrals }, waitMs);
  }

  async #never({ forwarder, announce }: Run): Promise<void> {
    const { refusals, forwarders, registry, clock } = this.#options;
    const { hash } = announce;
    const endpoint = endpointOf(announce);
    await refusals.add(hash, forwarder.name, clock.now());
    await registry.dropRegistration(hash, endpoint, forwarder.name);
    if (forwarder.refusedForEver(hash, clock.now())) {
      await forwarders.disable(forwarder, "it refused several hashes for good within an hour");
    } else await forwarders.save(forwarder);
  }

  /** Peers from its earlier answers stay until they expire. */
  async #failed({ forwarder, announce }: Run, reason: string): Promise<void> {
    const { forwarders, settings, clock } = this.#options;
    if (announce.event !== STOPPED) {
      await this.#note(announce, forwarder, (registration) => {
        const waitMs = FAILED_AGAIN_MS * 2 ** registration.failures;
        registration.next = clock.now() + Math.min(waitMs, settings.announce_interval * 1000);
        registration.failures++;
      });
    }
    const threshold = settings.forwarder_fail_threshold;
    if (forwarder.failedJob(threshold)) {
      const text = `${threshold} failed announces in a row, the last: ${reason}`;
      await forwarders.disable(forwarder, text);
    } else await forwarders.save(forwarder);
  }

  async #again(run: Run, job: AnnounceJob, delayMs: number): Promise<void> {
    const { queue, registry } = this.#options;
    const { isProbe: _isProbe, ...again } = job;
    const [id] = await queue.add([again], delayMs);
    if (isAside(again)) return;
    const { announce } = run;
    const peer = registry.findPeer(announce.hash, endpointOf(announce));
    const registration = peer?.registrations.get(job.forwarder);
    if (registration === undefined) return;
    registration.job = id;
  }

  /** Changes the registration of a local peer that is still there, and keeps it. */
  async #note(
    announce: Announce,
    { name }: Forwarder,
    change: (registration: Registration) => void,
  ): Promise<void> {
    const { registry, announcer } = this.#options;
    const { hash } = announce;
    const endpoint = endpointOf(announce);
    if (this.#options.localPeer(hash, endpoint) === undefined) return;
    const peer = registry.peer(hash, endpoint);
    const registration = registry.registration(peer, name);
    if (registration === undefined) return;
    change(registration);
    await registry.save(peer, name, registration);
    announcer.schedule(hash, endpoint, registration.next);
  }

  /** The mark goes with the job that it is for, not with one that has been added since. */
  #unmark(job: AnnounceJob, id: string): void {
    if (isEvent(job)) return;
    const peer = this.#options.registry.findPeer(fromHex(job.hash), endpointOfJob(job));
    const registration = peer?.registrations.get(job.forwarder);
    if (registration === undefined) return;
    // Its own add may not have been answered yet, and then the id is not known here.
    if (registration.job !== undefined && registration.job !== id) return;
    registration.isPending = false;
    registration.job = undefined;
  }
}

function isEvent({ event }: AnnounceJob): boolean {
  return event === STOPPED || event === COMPLETED;
}
