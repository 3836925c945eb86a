// Flows over the partitions of a cluster, which move and crash at any moment. Jobs of four queues
// wait for each other; some fail, some are retried. Each delivery is judged, and in the end, when
// all is left alone, each job.

import type { FakeClock } from "@sluice/client";
import { ClusterRouter, MemoryDirectory, ServedPartitions } from "@sluice/cluster";
import type { FlowJob, LeasedJob } from "@sluice/protocol";
import { turningClock } from "@sluice/protocol/testing";
import { Hosts } from "../cluster-faults/hosts.ts";
import { Random } from "../random.ts";
import type { WorldEnd } from "../world-end.ts";
import { CrossFlowBook, type Edge } from "./book.ts";

const CODE = { ClusterRouter, ServedPartitions };
export type CrossFlowCode = typeof CODE;

const PARTITIONS = 4;
const TURNS = 8;
const MOVES = 40;
const WAITS_MAX = 400;
const DRAINS_MAX = 60;
// At home in each of the four partitions.
const QUEUES = ["q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7"];
const DAY_MS = 86_400_000;

class Broken extends Error {}

export async function runCrossFlows(seed: number, code: CrossFlowCode = CODE): Promise<WorldEnd> {
  const world = new CrossFlowWorld(seed, code);
  try {
    await world.run();
    return { failure: undefined, counts: world.counts };
  } catch (error) {
    const failure = error instanceof Broken ? error.message : String((error as Error).stack);
    return { failure, counts: world.counts };
  } finally {
    await world.close();
  }
}

class CrossFlowWorld {
  readonly counts = { jobs: 0, flows: 0, ends: 0, moves: 0, "over partitions": 0 };
  readonly #random: Random;
  readonly #clock: FakeClock = turningClock(TURNS);
  readonly #book = new CrossFlowBook();
  readonly #served: ServedPartitions;
  readonly #hosts: Hosts;
  readonly #router: ClusterRouter;
  #operations = 0;

  constructor(seed: number, code: CrossFlowCode) {
    this.#random = new Random(seed);
    const clock = this.#clock;
    this.#served = new code.ServedPartitions({ clock });
    this.#hosts = new Hosts(clock, this.#served, PARTITIONS);
    const directory = new MemoryDirectory(PARTITIONS);
    const partitions = {
      port: (partition: number) => this.#served.port(partition),
      close: () => this.#served.close(),
    };
    this.#router = new code.ClusterRouter({ directory, partitions, clock });
  }

  async run(): Promise<void> {
    await this.#heal();
    const options = { lease: DAY_MS, retry: { attempts: 1 }, dlq: "dead" };
    for (const queue of QUEUES) await this.#during(() => this.#router.setQueue(queue, options));
    for (let i = 0; i < MOVES; i++) {
      const kind = this.#random.weighted({ add: 4, flow: 4, work: 8, retry: 1, move: 4 });
      await this[kind]();
    }
    await this.#heal();
    await this.#drain();
    await this.#judge();
  }

  async close(): Promise<void> {
    await this.#answered(this.#router.close()).catch(() => {});
    await this.#hosts.close();
  }

  // Makes a call until it was answered: one that was not sent is made again.
  async #during<T>(make: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#answered(make());
      } catch (error) {
        if ((error as { code?: string }).code !== "UNAVAILABLE" || tries > 5) throw error;
        await this.#heal();
      }
    }
  }

  // Its answer, while time passes for it; partitions that are away come back meanwhile.
  async #answered<T>(call: Promise<T>): Promise<T> {
    let isOver = false;
    const end = (): void => {
      isOver = true;
    };
    call.then(end, end);
    for (let i = 0; !isOver; i++) {
      if (i > WAITS_MAX) throw new Broken("a call is never answered");
      if (i === 3) await this.#heal();
      await this.#clock.advance(i < 3 ? 0 : 500);
    }
    return call;
  }

  async #heal(): Promise<void> {
    for (let partition = 0; partition < PARTITIONS; partition++) {
      if (!this.#hosts.isUp(partition)) await this.#hosts.open(partition);
    }
  }

  // A partition leaves its owner while calls and messages are on their way.
  async move(): Promise<void> {
    this.counts.moves++;
    const partition = this.#random.below(PARTITIONS);
    if (!this.#hosts.isUp(partition)) return this.#hosts.open(partition);
    const how = this.#random.pick(["close", "crash", "fenced"] as const);
    await this.#hosts.leave(partition, how);
    if (this.#random.chance(0.6)) await this.#hosts.open(partition);
  }

  // The same, for a call that must take effect once; a partition may move while it is made.
  async #troubled<T>(make: (options: { operationId: string }) => Promise<T>): Promise<T> {
    const options = { operationId: `world ${++this.#operations}` };
    const first = make(options);
    first.catch(() => {});
    if (this.#random.chance(0.25)) {
      for (let i = this.#random.below(6); i > 0; i--) await this.#clock.advance(0);
      await this.move();
    }
    let calls = 0;
    return this.#during(() => (calls++ === 0 ? first : make(options)));
  }

  #edges(most: number): Edge[] {
    const known = [...this.#book.jobs.keys()].slice(-10);
    const chosen = this.#random.some(known, 0.3).slice(0, most);
    return chosen.map((id) => ({ id, on: this.#random.pick(["fail", "fail", "run", "wait"]) }));
  }

  async add(): Promise<void> {
    const edges = this.#edges(3);
    const after = edges.map(({ id, on }) => ({ id, onDependencyFailure: on }));
    const queue = this.#random.pick(QUEUES);
    const [outcome] = await this.#troubled((once) =>
      this.#router.add(queue, [{ payload: EMPTY, after }], once),
    );
    // One that has died and failed others may be deleted by then; all others are kept.
    if (outcome!.error !== undefined) throw new Broken(`an add: ${outcome!.error.message}`);
    this.#note(outcome!.ok!.id, edges);
  }

  #note(id: string, edges: readonly Edge[], isCancelled = false): void {
    this.counts.jobs++;
    if (edges.some((edge) => edge.id[0] !== id[0])) this.counts["over partitions"]++;
    this.#book.add(id, edges, isCancelled);
  }

  // In one call, or opened, filled by two, and sealed or cancelled.
  async flow(): Promise<void> {
    this.counts.flows++;
    const how = this.#random.pick(["once", "once", "sealed", "cancelled", "left"] as const);
    if (how === "once") return this.#fill(undefined, false);
    const queue = this.#random.pick(QUEUES);
    const { flow } = await this.#troubled((once) => this.#router.openFlow(queue, once));
    const isCancelled = how !== "sealed";
    for (let part = 0; part < 2; part++) await this.#fill(flow, isCancelled);
    if (how === "sealed") await this.#troubled((once) => this.#router.sealFlow(flow, once));
    if (how === "cancelled") await this.#troubled((once) => this.#router.cancelFlow(flow, once));
  }

  async #fill(flow: string | undefined, isCancelled: boolean): Promise<void> {
    const count = this.#random.between(1, 6);
    const jobs: FlowJob[] = [];
    const places: { job: number; on: Edge["on"] }[][] = [];
    const edges: Edge[][] = [];
    for (let i = 0; i < count; i++) {
      const own = this.#random.some([...jobs.keys()], 0.4);
      const named = own.map((job) => ({ job, on: this.#random.pick(["fail", "run"] as const) }));
      // No job waits for a flow that may never be sealed.
      const outside = this.#edges(2).filter(({ id }) => !this.#book.jobs.get(id)!.isCancelled);
      places.push(named);
      edges.push(outside);
      const after = [
        ...named.map(({ job, on }) => ({ job, onDependencyFailure: on })),
        ...outside.map(({ id, on }) => ({ id, onDependencyFailure: on })),
      ];
      jobs.push({ queue: this.#random.pick(QUEUES), payload: EMPTY, after });
    }
    const options = flow === undefined ? {} : { flow };
    const queue = this.#random.pick(QUEUES);
    const added = await this.#troubled((once) =>
      this.#router.addFlow(queue, jobs, { ...options, ...once }),
    );
    for (const [i, { id }] of added.jobs.entries()) {
      const own = places[i]!.map(({ job, on }) => ({ id: added.jobs[job]!.id, on }));
      this.#note(id, [...own, ...edges[i]!], isCancelled);
    }
  }

  async work(): Promise<void> {
    const queue = this.#random.pick(QUEUES);
    for (const job of await this.#take(queue, 3)) {
      await this.#end(job, this.#random.chance(0.25) ? "failed" : "finished");
    }
  }

  async #take(queue: string, max: number): Promise<LeasedJob[]> {
    const jobs = await this.#during(() => this.#router.lease(queue, { worker: "w", max }));
    for (const { id } of jobs) {
      const results = new Map<string, string | undefined>();
      const { items } = await this.#during(() => this.#router.dependencies(id));
      for (const { id: of, result } of items) {
        results.set(of, result && new TextDecoder().decode(result));
      }
      const wrong = this.#book.delivered(id, results);
      if (wrong !== undefined) throw new Broken(wrong);
    }
    return jobs;
  }

  async #end({ id, lease }: LeasedJob, how: "finished" | "failed"): Promise<void> {
    this.counts.ends++;
    // Messages may arrive before the answer does.
    this.#book.ended(id, how);
    const result = new TextEncoder().encode(id);
    const [outcome] = await this.#troubled<Ended[]>((once) =>
      how === "finished"
        ? this.#router.ack([{ lease, result }], once)
        : this.#router.nack([{ lease, error: "boom" }], once),
    );
    if (outcome!.error !== undefined) throw new Broken(`an end: ${outcome!.error.message}`);
  }

  async retry(): Promise<void> {
    const dead = await this.#during(() =>
      this.#router.jobs("dead", { state: "dead" }).catch(noneYet),
    );
    const [first] = dead.items;
    if (first !== undefined) await this.#troubled((once) => this.#router.retry([first.id], once));
  }

  // All that can run does, and what crosses partitions arrives.
  async #drain(): Promise<void> {
    let idle = 0;
    for (let i = 0; idle < 3; i++) {
      if (i > DRAINS_MAX) throw new Broken("jobs run without an end");
      await this.#clock.advance(6 * 60_000);
      for (let turn = 0; turn < 10; turn++) await this.#clock.advance(0);
      let taken = 0;
      for (const queue of QUEUES) {
        for (const job of await this.#take(queue, 100)) {
          taken++;
          await this.#end(job, "finished");
        }
      }
      idle = taken === 0 ? idle + 1 : 0;
    }
  }

  async #judge(): Promise<void> {
    for (const id of this.#book.jobs.keys()) {
      const { state } = await this.#during(() => this.#router.job(id));
      const wrong = this.#book.judge(id, state);
      if (wrong !== undefined) throw new Broken(wrong);
    }
  }
}

const EMPTY = new Uint8Array();

type Ended = { error?: { message: string } | undefined };

// The queue is made by the first death.
function noneYet(error: { code?: string }): { items: { id: string }[] } {
  if (error.code !== "QUEUE_NOT_FOUND") throw error;
  return { items: [] };
}
