import type { Engine, WorkerView } from "@sluice/engine";
import {
  answerQueue,
  type DeleteQueueOptions,
  FAIRNESS_KEY,
  type FairnessKey,
  invalid,
  type OperationOptions,
  type Page,
  parseQueue,
  type QueueDeleted,
  type QueueInfo,
  type QueueOptions,
  type QueuesOptions,
  type RedriveOptions,
  SluiceError,
  type WorkerInfo,
  type WorkersOptions,
} from "@sluice/protocol";
import type { Consumers } from "./consumers.ts";
import type { EngineCalls } from "./engine-calls.ts";
import type { Ends } from "./events.ts";
import { type Features, ORDERED_LEVEL } from "./features.ts";
import { idOf, parseId } from "./job-ids.ts";
import { HELD_JOBS_OF_QUEUE_MAX, REDRIVE_SLICE } from "./limits.ts";
import type { Policies } from "./policy/policies.ts";

interface QueueParts {
  readonly calls: EngineCalls;
  readonly consumers: Consumers;
  readonly ends: Ends;
  readonly policies: Policies;
  readonly features: Features;
  readonly options: { readonly queuesMax: number };
}

/** The calls about queues. */
export class QueueCalls {
  readonly #of: QueueParts;
  readonly #calls: EngineCalls;

  constructor(of: QueueParts) {
    this.#of = of;
    this.#calls = of.calls;
  }

  async setQueue(queue: string, options: QueueOptions): Promise<QueueInfo> {
    this.#calls.check();
    const parse = (engine: Engine) => parseQueue(queue, options, engine.findQueueConfig(queue));
    const { config, spread = 1 } = this.#calls.call(parse);
    // One broker is one partition.
    if (spread !== 1) throw invalid("queue.spread", "1: this broker is not a cluster", spread);
    const isNew = options?.policy !== undefined && config.policy !== undefined;
    const policy = isNew ? await this.#of.policies.check(queue, config.policy!) : undefined;
    await this.#calls.change((engine, now) => {
      this.#checkRoom(queue, engine);
      const merged = parse(engine).config;
      const isOrdered = merged.ordered === true || options?.policy?.ordered !== undefined;
      if (isOrdered) this.#of.features.need(ORDERED_LEVEL, "the queue option ordered");
      engine.setQueue(queue, isNew ? { ...merged, policy } : merged, now);
    });
    return this.queue(queue);
  }

  /** Dead letter queues that the engine makes by itself are counted, and never refused. */
  #checkRoom(queue: string, engine: Engine): void {
    const { queuesMax } = this.#of.options;
    const names = engine.queries.queueNames();
    if (names.length < queuesMax || names.includes(queue)) return;
    const message =
      `queue ${queue} was not made: there are ${names.length} queues, and queuesMax is ` +
      `${queuesMax}. Delete some, or raise queuesMax`;
    throw new SluiceError("LIMIT_REACHED", message, { field: "queue", value: queue });
  }

  async deleteQueue(queue: string, options: DeleteQueueOptions = {}): Promise<QueueDeleted> {
    const { deadLetters = "keep" } = options;
    if (deadLetters !== "keep" && deadLetters !== "delete") {
      throw invalid("deadLetters", '"keep" or "delete"', deadLetters);
    }
    const isDeleting = deadLetters === "delete";
    const before = isDeleting ? await this.#deleteLetters(queue, options) : 0;
    const call = `deleteQueue ${queue} ${deadLetters}`;
    return this.#calls.changeOnce(call, options, (engine, now) => {
      engine.queueConfig(queue);
      // Those that died since the last step.
      const late = isDeleting ? engine.byHand.deleteLetters(queue, now) : 0;
      this.#of.ends.queueGone(queue, now);
      const { kept, deleted } = engine.deleteQueue(queue, now);
      this.#of.consumers.queueGone(queue);
      this.#of.policies.forget(queue);
      return { lettersKept: kept, lettersDeleted: before + late + deleted };
    });
  }

  #deleteLetters(queue: string, options: OperationOptions): Promise<number> {
    return this.#inParts(`deleteLetters ${queue}`, options, (engine, now) =>
      engine.byHand.deleteLetters(queue, now),
    );
  }

  /** Repeats a bounded step until it does nothing more; under each number it is one operation. */
  async #inParts(
    call: string,
    { operationId }: OperationOptions,
    step: (engine: Engine, now: number, done: number) => number,
    most = Number.POSITIVE_INFINITY,
  ): Promise<number> {
    let done = 0;
    for (let part = 0; ; part++) {
      const named = operationId === undefined ? {} : { operationId: `${operationId}.${part}` };
      const some = await this.#calls.changeOnce(
        call,
        named,
        (engine, now) => step(engine, now, done),
        most,
      );
      done += some;
      if (some === 0 || done >= most) return done;
    }
  }

  async queue(queue: string): Promise<QueueInfo> {
    return this.#calls.call((engine) => ({
      name: queue,
      config: answerQueue(engine.queueConfig(queue)),
      stats: engine.queries.queueStats(queue),
    }));
  }

  async queues({ limit = 100, cursor = "" }: QueuesOptions = {}): Promise<Page<QueueInfo>> {
    const names = this.#calls.call((engine) => engine.queries.queueNames()).sort();
    const from = names.findIndex((name) => name > cursor);
    const page = from === -1 ? [] : names.slice(from, from + limit);
    const items = await Promise.all(page.map((name) => this.queue(name)));
    const isLast = from === -1 || from + limit >= names.length;
    return isLast ? { items } : { items, cursor: page.at(-1)! };
  }

  purge(queue: string, options: OperationOptions = {}): Promise<void> {
    return this.#calls.changeOnce(`purge ${queue}`, options, (engine, now) =>
      engine.purge(queue, now),
    );
  }

  async redrive(queue: string, options: RedriveOptions = {}): Promise<number> {
    const { count = Number.POSITIVE_INFINITY, ids } = options;
    if (ids !== undefined) return this.#redriveByIds(queue, ids, options);
    return this.#inParts(
      `redrive ${queue}`,
      options,
      (engine, now, done) => engine.redrive(queue, { count: count - done }, now),
      count,
    );
  }

  async #redriveByIds(
    queue: string,
    ids: readonly string[],
    { count, operationId }: RedriveOptions,
  ): Promise<number> {
    if (count !== undefined) throw invalid("count", "absent when ids are given", count);
    let moved = 0;
    // Also once without any, so that a queue that is no dead letter queue is refused.
    for (let from = 0; from === 0 || from < ids.length; from += REDRIVE_SLICE) {
      const some = ids.slice(from, from + REDRIVE_SLICE);
      const slice = some.flatMap(numberOf);
      const named = operationId === undefined ? {} : { operationId: `${operationId}.${from}` };
      moved += await this.#calls.changeOnce(
        `redrive ${queue}`,
        named,
        (engine, now) => engine.redrive(queue, { ids: slice }, now),
        some,
      );
    }
    return moved;
  }

  setLaneWeight(queue: string, key: FairnessKey, weight: number): Promise<void> {
    return this.#calls.change((engine, now) => {
      FAIRNESS_KEY.parse("key", key);
      engine.setLaneWeight(queue, key, weight, now);
    });
  }

  async workers(queue: string, { jobs = 0 }: WorkersOptions = {}): Promise<readonly WorkerInfo[]> {
    const { consumers } = this.#of;
    const about = (name: string) => ({ queue, ...consumers.about(queue, name) });
    if (jobs === 0) {
      const workers = this.#calls.call((engine) => engine.queries.workers(queue));
      return workers.map((worker) => ({ ...worker, ...about(worker.name) }));
    }
    const workers = await this.#workersAndJobs(queue, jobs);
    return workers.map(({ jobs: held, ...worker }) => {
      const listed = held.map((job) => ({ ...job, id: idOf(job.id) }));
      return { ...worker, ...about(worker.name), jobs: listed };
    });
  }

  async #workersAndJobs(queue: string, jobs: number): Promise<WorkerView[]> {
    const options = { jobs, jobsOfAll: HELD_JOBS_OF_QUEUE_MAX };
    const survey = this.#calls.call((engine) => engine.queries.surveyWorkers(queue, options));
    while (survey.step()) {
      await new Promise(setImmediate);
      this.#calls.check();
    }
    return survey.workers();
  }
}

/** What is no id names no letter. */
function numberOf(id: string): number[] {
  try {
    return [parseId(id)];
  } catch {
    return [];
  }
}
