import { type Clock, SluiceError, type Timer } from "@sluice/protocol";
import { TRIAL_IDLE_MS, TRIAL_REST_MS, TRIALS_WAITING_MAX } from "../../limits.ts";
import type { Script } from "./script.ts";
import { type ConfigSource, Thread } from "./thread.ts";

interface Trial {
  readonly script: Script;
  readonly answer: PromiseWithResolvers<string>;
}

/** Queues whose names begin alike: those that one key with a prefix may set. */
interface Tenant {
  readonly name: string;
  readonly waiting: Trial[];
}

/**
 * Trial runs of programs, before a queue takes them. They have a thread of their own, so that no
 * add waits for them, and run one at a time. Tenants, told apart by the names of their queues up to
 * the first dot, take turns. One whose program had to be ended with its thread rests for a second.
 * The thread ends when there was nothing to try for a while: it takes 20 MB.
 */
export class Trials {
  readonly #clock: Clock;
  readonly #config: ConfigSource;
  /** Those that have something waiting, in the order of their turns. */
  readonly #tenants: Tenant[] = [];
  /** Those whose last trial cost a thread, and until when they rest. */
  readonly #resting = new Map<string, number>();
  #thread: Thread | undefined;
  #isRunning = false;
  #isClosed = false;
  #timer: Timer | undefined;

  constructor(clock: Clock, config: ConfigSource) {
    this.#clock = clock;
    this.#config = config;
  }

  get threads(): number {
    return this.#thread === undefined ? 0 : 1;
  }

  /** Runs a program once; answers what hooks it has, or rejects with what is wrong with it. */
  run(script: Script): Promise<string> {
    if (this.#isClosed) return Promise.reject(closed());
    const tenant = this.#tenantOf(script.queue);
    if (tenant.waiting.length >= TRIALS_WAITING_MAX) return Promise.reject(tooMany(tenant));
    const answer = Promise.withResolvers<string>();
    tenant.waiting.push({ script, answer });
    if (tenant.waiting.length === 1) this.#tenants.push(tenant);
    this.#next();
    return answer.promise;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    const ended = this.#thread?.end("the broker is closed");
    for (const { waiting } of this.#tenants.splice(0)) {
      for (const { answer } of waiting) answer.reject(closed());
    }
    await ended;
  }

  #tenantOf(queue: string): Tenant {
    const name = queue.split(".", 1)[0]!;
    const known = this.#tenants.find((tenant) => tenant.name === name);
    return known ?? { name, waiting: [] };
  }

  /** Starts the next trial; when all that have one rest, waits for the first of them. */
  #next(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#isRunning || this.#isClosed) return;
    const now = this.#clock.now();
    if (this.#tenants.length === 0) {
      this.#timer = this.#clock.at(now + TRIAL_IDLE_MS, () => void this.#thread?.end("idle"));
      this.#timer.unref?.();
      return;
    }
    const rests = this.#tenants.map(({ name }) => this.#resting.get(name) ?? 0);
    const turn = rests.findIndex((until) => until <= now);
    if (turn === -1) {
      const first = rests.reduce((least, until) => Math.min(least, until));
      this.#timer = this.#clock.at(first, () => this.#next());
      return;
    }
    const [tenant] = this.#tenants.splice(turn, 1);
    const trial = tenant!.waiting.shift()!;
    if (tenant!.waiting.length > 0) this.#tenants.push(tenant!);
    this.#isRunning = true;
    void this.#run(tenant!, trial).finally(() => {
      this.#isRunning = false;
      this.#next();
    });
  }

  async #run(tenant: Tenant, { script, answer }: Trial): Promise<void> {
    const { id, queue, source } = script;
    const thread = this.#ownThread();
    const config = thread.newConfig(this.#config);
    try {
      const reply = await thread.send({ kind: "check", script: { id, queue, source }, config });
      if (reply.kind === "checked" && reply.problem === undefined) answer.resolve(reply.hooks);
      else answer.reject(new Error((reply as { problem: string }).problem));
    } catch (error) {
      this.#rest(tenant);
      answer.reject(this.#isClosed ? closed() : error);
    }
  }

  #rest(tenant: Tenant): void {
    const now = this.#clock.now();
    for (const [name, until] of this.#resting) if (until <= now) this.#resting.delete(name);
    this.#resting.set(tenant.name, now + TRIAL_REST_MS);
  }

  #ownThread(): Thread {
    const thread: Thread =
      this.#thread ??
      new Thread(() => {
        if (this.#thread === thread) this.#thread = undefined;
      });
    this.#thread = thread;
    return thread;
  }
}

function closed(): SluiceError {
  return new SluiceError("CLOSED", "the broker is closed");
}

function tooMany({ name, waiting }: Tenant): SluiceError {
  const message = `${waiting.length} scripts of ${name}.* wait for their trial run; retry later`;
  return new SluiceError("RATE_LIMITED", message, { retryAfterMs: TRIAL_REST_MS });
}
