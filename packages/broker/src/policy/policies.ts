import type { Engine, JobSpec, QueueConfig } from "@sluice/engine";
import {
  type Clock,
  invalid,
  type QueuePolicy,
  type ScriptStats,
  SluiceError,
} from "@sluice/protocol";
import { POLICY_BYTES_MAX, SOURCE_BYTES_MAX } from "../limits.ts";
import type { Answer, Question } from "./lua/batch.ts";
import { StoredConfig } from "./lua/config.ts";
import type { Hook } from "./lua/messages.ts";
import { Pool } from "./lua/pool.ts";
import { Script, type Trouble } from "./lua/script.ts";
import { Trials } from "./lua/trials.ts";
import { propose } from "./proposal.ts";
import { Rules } from "./rules.ts";
import type { Headers } from "./template.ts";

/** A queue's policy, made ready. */
export class Policy {
  readonly of: QueuePolicy;
  readonly script: Script | undefined;
  readonly #rules: Rules;

  constructor(of: QueuePolicy, script: Script | undefined) {
    this.of = of;
    this.script = script;
    this.#rules = new Rules(of);
  }

  /** Fills in what the producer has left open: what the script says, then what the rules say. */
  fill(spec: JobSpec, answer: Answer | undefined, queue: string, config: QueueConfig): void {
    const isOpen = spec.gates === undefined;
    if (answer !== undefined) propose(spec, answer, config);
    const { headers } = spec.body as { headers: Headers };
    this.#rules.fill(spec, headers, queue, config);
    if (isOpen && spec.gates !== undefined) spec.policyGates = true;
  }
}

/**
 * The policies of all queues. They run before the engine gets a job or a failure, so that facts
 * hold the decisions and a replay decides nothing.
 */
export class Policies {
  readonly #engine: Engine;
  readonly #now: () => number;
  readonly #onTrouble: (queue: string, trouble: Trouble, text: string) => void;
  readonly #known = new Map<string, Policy>();
  readonly #config: StoredConfig;
  readonly #pool: Pool;
  readonly #trials: Trials;

  constructor(
    engine: Engine,
    clock: Clock,
    onTrouble: (queue: string, trouble: Trouble, text: string) => void,
  ) {
    this.#engine = engine;
    this.#now = () => clock.now();
    this.#onTrouble = onTrouble;
    this.#config = new StoredConfig(engine);
    this.#pool = new Pool(clock, this.#config);
    this.#trials = new Trials(clock, this.#config);
  }

  get threads(): number {
    return this.#pool.threads + this.#trials.threads;
  }

  /** Makes a thread ready if a queue has a script: its first jobs must not wait for that. */
  async warmUp(): Promise<void> {
    const hasScript = this.#engine.queries.queueNames().some((queue) => {
      const policy = this.#engine.queueConfig(queue).policy as QueuePolicy | undefined;
      return policy?.lua !== undefined;
    });
    if (hasScript) await this.#pool.warmUp();
  }

  /** How the script of a queue does; undefined when it has none. */
  scriptStats(queue: string): ScriptStats | undefined {
    return this.of(queue)?.script?.stats();
  }

  /** The policy of a queue; undefined when it has none, or there is no such queue. */
  of(queue: string): Policy | undefined {
    const policy = this.#engine.queueConfig(queue).policy as QueuePolicy | undefined;
    const known = this.#known.get(queue);
    if (known?.of === policy) return known;
    this.forget(queue);
    if (policy === undefined) return undefined;
    const made = new Policy(policy, this.#scriptOf(queue, policy));
    this.#known.set(queue, made);
    return made;
  }

  /** A copy of a policy that can run; refuses another by the name of the field. */
  async check(queue: string, policy: object): Promise<QueuePolicy> {
    new Rules(policy);
    const text = JSON.stringify(policy);
    if (text.length > POLICY_BYTES_MAX) {
      throw invalid("queue.policy", `at most ${POLICY_BYTES_MAX} bytes of JSON`, text.length);
    }
    const copy = JSON.parse(text) as QueuePolicy;
    if (copy.lua !== undefined) await this.#checkSource(queue, copy.lua);
    return copy;
  }

  async #checkSource(queue: string, source: unknown): Promise<void> {
    const field = "queue.policy.lua";
    if (typeof source !== "string") throw invalid(field, "a program in Lua", source);
    const bytes = Buffer.byteLength(source);
    if (bytes > SOURCE_BYTES_MAX) throw invalid(field, `at most ${SOURCE_BYTES_MAX} bytes`, bytes);
    const script = new Script(queue, source, this.#now, () => {});
    const hooks = await this.#trials.run(script).catch((error: unknown) => {
      if (error instanceof SluiceError) throw error;
      const message = `${field} is not a valid Lua program: ${(error as Error).message}`;
      throw new SluiceError("INVALID", message, { field, value: source.slice(0, 64) });
    });
    if (hooks === "") throw invalid(field, "a program with on_enqueue or on_failure", source);
    await this.#pool.warmUp();
  }

  #scriptOf(queue: string, { lua }: QueuePolicy): Script | undefined {
    if (lua === undefined) return undefined;
    return new Script(queue, lua, this.#now, (...told) => this.#onTrouble(queue, ...told));
  }

  /** The script to ask about a hook of the queue now; undefined: ask none. */
  asks(queue: string, hook: Hook): Script | undefined {
    const script = this.of(queue)?.script;
    return script?.mayHave(hook) && !script.breaker.isOpen ? script : undefined;
  }

  /** Asks a script about jobs; it always answers. */
  ask(script: Script, hook: Hook, questions: readonly Question[]): Promise<Answer[]> {
    return this.#pool.ask(script, hook, questions);
  }

  refuseIfFull(): void {
    this.#pool.refuseIfFull();
  }

  /** Something was stored: it may be what scripts read. */
  stored(store: string): void {
    this.#config.hear(store);
  }

  forget(queue: string): void {
    const script = this.#known.get(queue)?.script;
    if (script !== undefined) this.#pool.forget(script);
    this.#known.delete(queue);
  }

  /** Calls that wait for a script continue without it; resolves when no thread is left. */
  close(): Promise<unknown> {
    return Promise.all([this.#pool.close(), this.#trials.close()]);
  }
}
