import type { NackOptions, Overdue, QueueConfig } from "@sluice/engine";
import type { Nack, QueuePolicy } from "@sluice/protocol";
import { type Chunks, readBody } from "../chunks.ts";
import type { EngineCalls } from "../engine-calls.ts";
import { idOf } from "../job-ids.ts";
import type { LeaseTokens } from "../lease-tokens.ts";
import { ERROR_BYTES_MAX, FAILURE_SCRIPT_MS } from "../limits.ts";
import type { Pump } from "../pump.ts";
import type { Answer, Question } from "./lua/batch.ts";
import type { Script } from "./lua/script.ts";
import type { Policies } from "./policies.ts";
import { applyAnswer } from "./proposal.ts";

/** What it needs of the broker. */
interface FailureScriptsParts {
  readonly calls: EngineCalls;
  readonly chunks: Chunks;
  readonly policies: Policies;
  readonly tokens: LeaseTokens;
  readonly pump: Pump;
}

/** A failure that a script is asked about. */
interface PendingFailure {
  readonly id: number;
  readonly lease: number;
  readonly script: Script;
  readonly error: string;
}

/** A lease that has run out, and until when it is held on. */
interface OverdueFailure extends PendingFailure {
  readonly until: number;
}

/**
 * Asks the scripts of queues what to do about failures, before the engine applies them.
 *
 * An expired lease is held for a moment and fails with the script's answer. If the script is late,
 * the lease fails by the queue's settings. A worker that extends its lease in that moment keeps it.
 * While a script judges a nack, the worker does not lose its lease.
 */
export class FailureScripts {
  readonly #of: FailureScriptsParts;
  /** Leases that are being judged, by their job; true: held on beyond their end already. */
  readonly #held = new Map<number, { readonly lease: number; isOver: boolean }>();
  #overdue: OverdueFailure[] = [];

  constructor(of: FailureScriptsParts) {
    this.#of = of;
  }

  /** Asks about the nacks that scripts decide on; undefined when there are none. */
  nacks(items: readonly Nack[]): Promise<(Answer | undefined)[]> | undefined {
    const failures = items.map((item) => this.#failureOfNack(item));
    if (failures.every((one) => one === undefined)) return undefined;
    for (const one of failures) {
      if (one !== undefined) this.#held.set(one.id, { lease: one.lease, isOver: false });
    }
    return this.#askAll(failures).finally(() => {
      for (const one of failures) if (one !== undefined) this.#held.delete(one.id);
    });
  }

  /** Has the engine hold leases on that run out, if the queue has a script. */
  watch(queue: string, { policy }: QueueConfig): void {
    const hasScript = (policy as QueuePolicy | undefined)?.lua !== undefined;
    this.#of.calls.engine.askOverdue(queue, hasScript ? FAILURE_SCRIPT_MS : 0);
  }

  /** Asks about leases that have run out and are held on. */
  leasesOver(all: readonly Overdue[]): void {
    for (const overdue of all) this.#leaseOver(overdue);
  }

  #leaseOver({ id, lease, queue, until }: Overdue): void {
    const held = this.#held.get(id);
    if (held?.lease === lease) {
      if (held.isOver) this.#expire(id, lease, {});
      held.isOver = true;
      return;
    }
    const script = this.#of.policies.asks(queue, "failure");
    if (script === undefined) return this.#expire(id, lease, {});
    this.#held.set(id, { lease, isOver: true });
    this.#overdue.push({ id, lease, script, error: "the lease expired", until });
    if (this.#overdue.length === 1) queueMicrotask(() => void this.#expireAll());
  }

  #expire(id: number, lease: number, options: NackOptions): void {
    this.#of.calls.engine.expire(id, lease, this.#of.calls.now(), options);
    this.#of.pump.call();
  }

  async #expireAll(): Promise<void> {
    const { engine } = this.#of.calls;
    const failures = this.#overdue;
    this.#overdue = [];
    const answers = await this.#askAll(failures);
    for (const [i, { id, lease, until }] of failures.entries()) {
      this.#held.delete(id);
      // Else it was acked, it failed because this came too late, or its worker lives after all.
      const isStillOver = engine.held(id, lease)?.expiresAt === until;
      if (isStillOver && this.#isOpen()) {
        this.#expire(id, lease, applyAnswer({}, answers[i] ?? {}));
      }
    }
  }

  #isOpen(): boolean {
    try {
      this.#of.calls.check();
      return true;
    } catch {
      return false;
    }
  }

  /** What a worker has decided itself is not asked about: a cooldown, or that it is hopeless. */
  #failureOfNack(nack: Nack): PendingFailure | undefined {
    const { calls, policies, tokens } = this.#of;
    const { engine } = calls;
    try {
      const { lease, error, cooldown, unrecoverable } = nack;
      if (cooldown !== undefined || unrecoverable === true) return undefined;
      const token = tokens.parse(lease);
      const queue = engine.queueOf(token.job);
      if (queue === undefined || engine.held(token.job, token.lease) === undefined)
        return undefined;
      const script = policies.asks(queue, "failure");
      if (script === undefined || !this.#hasAttempts(token.job)) return undefined;
      return { id: token.job, lease: token.lease, script, error: shown(error) };
    } catch {
      // The call itself says what is wrong with the item.
      return undefined;
    }
  }

  /** Without another attempt there is nothing to decide: the job is dead. */
  #hasAttempts(id: number): boolean {
    const view = this.#of.calls.engine.queries.job(id);
    return view !== undefined && view.attempt + 1 < view.attempts;
  }

  /** The answers, place by place; scripts are asked side by side, each once. */
  async #askAll(
    failures: readonly (PendingFailure | undefined)[],
  ): Promise<(Answer | undefined)[]> {
    const answers: (Answer | undefined)[] = failures.map(() => undefined);
    const byScript = new Map<Script, number[]>();
    for (const [i, one] of failures.entries()) {
      if (one === undefined) continue;
      byScript.set(one.script, [...(byScript.get(one.script) ?? []), i]);
    }
    const asks = [...byScript].map(async ([script, places]) => {
      const questions = await Promise.all(places.map((i) => this.#question(failures[i]!)));
      const said = await this.#of.policies.ask(script, "failure", questions);
      for (const [n, i] of places.entries()) answers[i] = said[n];
    });
    await Promise.all(asks);
    return answers;
  }

  async #question({ id, error }: PendingFailure): Promise<Question> {
    const { calls, chunks } = this.#of;
    const { engine } = calls;
    const body = await readBody(engine, chunks, id);
    const view = engine.queries.job(id);
    const failure = {
      id: idOf(id),
      attempts: (view?.attempt ?? 0) + 1,
      attemptsMax: view?.attempts ?? 0,
      error,
    };
    return { headers: body?.headers ?? {}, payloadBytes: body?.payload.length ?? 0, failure };
  }
}

/** The beginning of what a worker said: the script gets no more than the job keeps. */
function shown(error: unknown): string {
  return String(error ?? "").slice(0, ERROR_BYTES_MAX);
}
