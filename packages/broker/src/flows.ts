import type {
  AddResult,
  Dependency,
  DependencyPage,
  DependencyView,
  JobSpec,
} from "@sluice/engine";
import {
  type AddFlowOptions,
  checkSignal,
  type DependencyInfo,
  type FlowAdded,
  type FlowAfter,
  type FlowJob,
  type OperationOptions,
  orderFlow,
  PAGE_MAX,
  type Page,
  type PageOptions,
  queueOfGroup,
  SluiceError,
  underField,
} from "@sluice/protocol";
import { addedOf } from "./add.ts";
import type { Chunks } from "./chunks.ts";
import type { EngineCalls } from "./engine-calls.ts";
import { idOf, jobAt, parseId } from "./job-ids.ts";
import type { Journal } from "./journal.ts";
import { FLOW_LINKS_PER_TURN, RESULTS_PAGE_BYTES } from "./limits.ts";
import { pieceEnds, questionOf, specOf } from "./new-jobs.ts";
import type { Policies } from "./policy/policies.ts";
import { parseCursor } from "./refuse.ts";
import { withResult } from "./results.ts";

interface FlowParts {
  readonly calls: EngineCalls;
  readonly chunks: Chunks;
  readonly journal: Journal;
  readonly policies: Policies;
  readonly options: { readonly payloadBytesMax: number };
  lookAtWall(): void;
}

/** A job of a flow on its way into the engine, at its place in the call. */
interface Entry {
  readonly at: number;
  readonly queue: string;
  readonly spec: JobSpec;
  /** What it waits for beyond what one call to the engine takes, the last first. */
  readonly more: readonly (readonly Dependency[])[];
}

/** The calls about jobs that wait for other jobs. */
export class FlowCalls {
  readonly #of: FlowParts;

  constructor(of: FlowParts) {
    this.#of = of;
  }

  /**
   * All jobs, or none. They are added to a flow that is not sealed, a part in each turn, and become
   * eligible together when it is. A refusal cancels it, and so does a crash, after ten minutes.
   */
  async addFlow(
    queue: string,
    jobs: readonly FlowJob[],
    options: AddFlowOptions = {},
  ): Promise<FlowAdded> {
    const { operationId, signal } = options;
    checkSignal(signal);
    this.#of.calls.check();
    if (operationId === undefined) return this.#add(queue, jobs, options, () => {});
    const operation = { operationId, call: `addFlow ${queue}`, items: 1, said: [jobs] };
    const [outcome] = await this.#of.calls.operations.once<FlowAdded>(
      operation,
      async (_, note) => [{ ok: await this.#add(queue, jobs, options, (ok) => note(0, [{ ok }])) }],
    );
    return outcome!.ok!;
  }

  async #add(
    queue: string,
    jobs: readonly FlowJob[],
    { flow: given, signal }: AddFlowOptions,
    note: (added: FlowAdded) => void,
  ): Promise<FlowAdded> {
    const { calls, journal } = this.#of;
    calls.ask((engine) => engine.queueConfig(queue));
    const entries = await this.#entriesOf(jobs);
    checkSignal(signal);
    this.#of.lookAtWall();
    const isOwn = given === undefined;
    const flow = isOwn ? calls.call((engine, now) => engine.flows.open(now)) : flowOf(given);
    const added: AddResult[] = [];
    const seal = (): FlowAdded => {
      if (isOwn) calls.engine.flows.seal(flow, calls.now());
      const answer = { flow: nameOf(queue, flow), jobs: added.map(addedOf) };
      note(answer);
      return answer;
    };
    try {
      const answer = await this.#fill(flow, entries, added, seal);
      await journal.durable();
      return answer;
    } catch (error) {
      // Jobs that were added to a flow of the caller stay until it is sealed or cancelled.
      if (isOwn && journal.failure === undefined) {
        calls.call((engine, now) => engine.flows.cancel(flow, now));
        await journal.durable();
      }
      throw error;
    }
  }

  /** Adds the jobs a part in each turn; what is last is done in the turn of the last part. */
  async #fill(
    flow: number,
    entries: readonly Entry[],
    added: AddResult[],
    last: () => FlowAdded,
  ): Promise<FlowAdded> {
    const { calls } = this.#of;
    const ids: number[] = [];
    let from = 0;
    for (const to of pieceEnds(entries.map(({ spec }) => spec))) {
      if (from > 0) await new Promise(setImmediate);
      const part = entries.slice(from, to);
      const isLast = to === entries.length && part.every(({ more }) => more.length === 0);
      const answer = calls.call((engine, now) => {
        const results = engine.flows.add(flow, part, ids, now);
        for (const [i, { at }] of part.entries()) added[at] = results[i]!;
        return isLast ? last() : undefined;
      });
      if (answer !== undefined) return answer;
      for (const [i, { more }] of part.entries()) await this.#link(flow, ids[from + i]!, more, ids);
      from = to;
    }
    return calls.call(last);
  }

  async #link(
    flow: number,
    id: number,
    more: readonly (readonly Dependency[])[],
    ids: readonly number[],
  ): Promise<void> {
    for (const part of more) {
      await new Promise(setImmediate);
      const after = part.map((one) => (one.id > 0 ? one : { ...one, id: ids[-one.id]! }));
      this.#of.calls.call((engine, now) => engine.flows.link(flow, id, after, now));
    }
  }

  /** The jobs in an order in which each follows those that it waits for, as the engine has them. */
  async #entriesOf(jobs: readonly FlowJob[]): Promise<Entry[]> {
    const order = orderFlow(jobs);
    const placeOf: number[] = [];
    for (const [place, at] of order.entries()) placeOf[at] = place;
    const entries = order.map((at): Entry => {
      const { queue, after, ...job } = jobs[at]!;
      const { payloadBytesMax } = this.#of.options;
      const spec = underField(`jobs.${at}`, () => specOf(job, queue, payloadBytesMax));
      const all = (after ?? []).map((one) => dependencyOf(one, placeOf));
      const parts: Dependency[][] = [];
      for (let i = 0; i < all.length; i += FLOW_LINKS_PER_TURN) {
        parts.push(all.slice(i, i + FLOW_LINKS_PER_TURN));
      }
      const own = parts.pop();
      if (own !== undefined) spec.dependencies = own;
      return { at, queue, spec, more: parts.reverse() };
    });
    await this.#applyPolicies(entries);
    return entries;
  }

  /** The policy of each queue fills in what its jobs leave open. */
  async #applyPolicies(entries: readonly Entry[]): Promise<void> {
    const { calls, policies } = this.#of;
    const byQueue = Map.groupBy(entries, ({ queue }) => queue);
    for (const [queue, own] of byQueue) {
      const config = calls.ask((engine) => engine.queueConfig(queue));
      if (config.policy === undefined) continue;
      const script = policies.asks(queue, "enqueue");
      const questions = own.map(({ spec }) => questionOf(spec));
      const answers = script === undefined ? [] : await policies.ask(script, "enqueue", questions);
      const policy = policies.of(queue);
      for (const [i, { spec }] of own.entries()) policy?.fill(spec, answers[i], queue, config);
    }
  }

  async openFlow(queue: string, options: OperationOptions = {}): Promise<{ flow: string }> {
    return this.#of.calls.changeOnce(`openFlow ${queue}`, options, (engine, now) => {
      engine.queueConfig(queue);
      return { flow: nameOf(queue, engine.flows.open(now)) };
    });
  }

  async sealFlow(flow: string, options: OperationOptions = {}): Promise<void> {
    await this.#of.calls.changeOnce(
      "sealFlow",
      options,
      (engine, now) => engine.flows.seal(flowOf(flow), now),
      flow,
    );
  }

  async cancelFlow(flow: string, options: OperationOptions = {}): Promise<void> {
    await this.#of.calls.changeOnce(
      "cancelFlow",
      options,
      (engine, now) => engine.flows.cancel(flowOf(flow), now),
      flow,
    );
  }

  async dependencies(id: string, options: PageOptions = {}): Promise<Page<DependencyInfo>> {
    return this.#page("dependencies", id, options);
  }

  async dependents(id: string, options: PageOptions = {}): Promise<Page<DependencyInfo>> {
    return this.#page("dependents", id, options);
  }

  async #page(
    which: "dependencies" | "dependents",
    id: string,
    { limit = 100, cursor }: PageOptions,
  ): Promise<Page<DependencyInfo>> {
    const most = Math.min(limit, PAGE_MAX);
    // A handler that reads 100,000 results lets others run between two pages.
    if (cursor !== undefined) await new Promise(setImmediate);
    const from = parseCursor(cursor);
    const ask = (count: number): DependencyPage =>
      this.#of.calls.call((engine) => engine.queries[which](parseId(id), count, from));
    const page = ask(most);
    const items: DependencyInfo[] = [];
    let bytes = 0;
    for (const item of page.items) {
      const info = infoOf(item, this.#of.chunks);
      items.push(info instanceof Promise ? await info : info);
      bytes += items.at(-1)!.result?.length ?? 0;
      if (bytes > RESULTS_PAGE_BYTES) break;
    }
    const next = items.length === page.items.length ? page.cursor : ask(items.length).cursor;
    return next === 0 ? { items } : { items, cursor: String(next) };
  }
}

function infoOf(
  { id, on, result, ...rest }: DependencyView,
  chunks: Chunks,
): DependencyInfo | Promise<DependencyInfo> {
  const info: DependencyInfo = { ...rest, id: idOf(id), onDependencyFailure: on };
  if (result === undefined) return info;
  if (result instanceof Uint8Array) return { ...info, result };
  return withResult(info, result, chunks);
}

/** A job of the flow is named by its place, counted down from 0; others by their numbers. */
function dependencyOf(after: FlowAfter, placeOf: readonly number[]): Dependency {
  const { onDependencyFailure: on } = after;
  return "id" in after && after.id !== undefined
    ? { id: parseId(after.id), on }
    : { id: -placeOf[(after as { job: number }).job]!, on };
}

function nameOf(queue: string, flow: number): string {
  return `${queue}/${idOf(flow)}`;
}

/** A flow is named under its queue, so that a key for that queue is what it takes to touch it. */
function flowOf(name: unknown): number {
  const queue = typeof name === "string" ? queueOfGroup(name) : "";
  const id = queue === "" ? "" : (name as string).slice(queue.length + 1);
  const flow = jobAt(id, id.length);
  if (flow !== 0) return flow;
  const message = `there is no flow ${JSON.stringify(name)}`;
  throw new SluiceError("JOB_NOT_FOUND", message, { field: "flow", value: String(name) });
}
