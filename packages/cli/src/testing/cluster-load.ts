// Adds and works all the time, from clients of several kinds, and keeps a history of what they
// hear: a client that knows all nodes, one that knows a single node, and plain HTTP to any of them.

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { connectCluster } from "@sluice/cluster/client";
import { type Broker, type LeasedJob, type NewJob, toSluiceError } from "@sluice/protocol";
import type { Queue, Sluice } from "sluice";
import { call } from "./call.ts";
import type { TestCluster } from "./cluster.ts";
import { History } from "./history.ts";

// Two queues for each gate, which are in different partitions.
const GATE_OF: Readonly<Record<string, string | undefined>> = {
  mail: undefined,
  images: undefined,
  reports: "three",
  sync: "three",
  billing: "paced",
  search: "paced",
};
const GATES = {
  three: { concurrency: 3 },
  paced: { rate: { perSecond: 60, burst: 10 } },
} as const;
const QUEUE = {
  leaseMs: 8_000,
  retry: { attempts: 1_000, minMs: 1, maxMs: 50 },
  results: { jobs: 100_000, ms: 3_600_000 },
} as const;
const CREDITS = 6;
const WORK_MS = 10;
const PAUSE_MS = 60;
const HTTP_PAUSE_MS = 100;
const SETTLE_MS = 90_000;
const LOOK_MS = 100;

export class ClusterLoad {
  readonly history = new History();
  readonly #cluster: TestCluster;
  readonly #broker: Broker;
  #adding: Promise<unknown> = Promise.resolve();
  #isOver = true;
  #next = 0;
  longestMs = 0;
  readonly errors: string[] = [];

  private constructor(cluster: TestCluster, broker: Broker) {
    this.#cluster = cluster;
    this.#broker = broker;
  }

  static async start(t: TestContext, cluster: TestCluster): Promise<ClusterLoad> {
    const broker = await connectCluster(cluster.urls);
    t.after(() => broker.close());
    const load = new ClusterLoad(cluster, broker);
    await load.#furnish();
    for (const queue of Object.keys(GATE_OF)) await load.#work(queue);
    const clients = [await cluster.connect(), await cluster.connect(cluster.urls[0]!)];
    await load.#add(clients);
    return load;
  }

  async #furnish(): Promise<void> {
    const { three, paced } = GATES;
    await this.#broker.setGate("three", three);
    await this.#broker.setGate("paced", {
      rate: paced.rate.perSecond,
      burst: paced.rate.burst,
    });
    this.history.rule("three", three);
    this.history.rule("paced", paced);
    for (const queue of Object.keys(GATE_OF)) await this.#broker.setQueue(queue, QUEUE);
  }

  async #work(queue: string): Promise<void> {
    const gate = GATE_OF[queue];
    const consumer = await this.#broker.consume(
      queue,
      { worker: `worker of ${queue}`, credits: CREDITS },
      (jobs) => {
        for (const job of jobs) {
          const name: string = JSON.parse(new TextDecoder().decode(job.payload));
          const { id, lease } = job;
          this.history.delivered({ id, lease, name, gate, at: performance.now() });
          setTimeout(() => void this.#finish(job, gate), WORK_MS);
        }
        setTimeout(() => consumer.addCredits(jobs.length), WORK_MS);
      },
    );
  }

  async #finish({ id, lease }: LeasedJob, gate: string | undefined): Promise<void> {
    this.history.worked(gate);
    try {
      const [outcome] = await this.#broker.ack([{ lease }]);
      if (outcome?.error === undefined) this.history.finished(id);
      // Else its lease has run out, and it comes again; or an earlier word has come through.
    } catch {
      // Nobody knows whether it was heard: the history is asked in the end.
    }
  }

  async #add(clients: readonly Sluice[]): Promise<void> {
    this.#isOver = false;
    const ways = Object.keys(GATE_OF).map(async (name, i) => {
      const queue = await clients[i % clients.length]!.queue<string>(name);
      return () => this.#addOver(queue, name);
    });
    const adders = (await Promise.all(ways)).map((add) => this.#loop(add, PAUSE_MS));
    const names = Object.keys(GATE_OF);
    let turn = 0;
    const overHttp = (): Promise<void> => this.#addHttp(names[turn++ % names.length]!, turn);
    this.#adding = Promise.all([...adders, this.#loop(overHttp, HTTP_PAUSE_MS)]);
  }

  async #loop(add: () => Promise<void>, pauseMs: number): Promise<void> {
    while (!this.#isOver) {
      const since = performance.now();
      await add();
      this.longestMs = Math.max(this.longestMs, performance.now() - since);
      await wait(pauseMs);
    }
  }

  async #addOver(queue: Queue<string>, to: string): Promise<void> {
    const name = `job ${this.#next++}`;
    try {
      const { id } = await queue.add(name, { ...gatesOf(to) });
      this.history.added(name, id);
    } catch (error) {
      this.#refused(error);
    }
  }

  async #addHttp(to: string, turn: number): Promise<void> {
    const name = `job ${this.#next++}`;
    const url = this.#cluster.urls[turn % this.#cluster.urls.length]!;
    try {
      const body = { payload: name, ...gatesOf(to) };
      const answer = await call(url, `POST /v1/queues/${to}/jobs`, body);
      if (answer.status === 201) this.history.added(name, answer.body.id);
      else this.#refused(new Error(`HTTP ${answer.status} ${JSON.stringify(answer.body)}`));
    } catch (error) {
      // A node that is away takes no calls.
      this.#refused(error);
    }
  }

  #refused(error: unknown): void {
    this.history.refused++;
    this.errors.push(String(error));
  }

  // Resolves when so many more were confirmed.
  async more(count: number): Promise<void> {
    const enough = this.history.confirmed + count;
    const endAt = Date.now() + SETTLE_MS;
    while (this.history.confirmed < enough) {
      if (Date.now() > endAt) throw new Error(`no more are confirmed: ${this.errors.at(-1)}`);
      await wait(LOOK_MS);
    }
  }

  // No more is added. When all that was confirmed is worked off the history is judged.
  async finish(t: TestContext): Promise<void> {
    this.#isOver = true;
    await this.#adding;
    const endAt = Date.now() + SETTLE_MS;
    while (this.history.open.length > 0 && Date.now() < endAt) {
      await wait(LOOK_MS);
      await this.#lookUp(this.history.open.slice(0, 20));
    }
    this.history.judge();
    const { confirmed, refused, deliveries, finishedCount, failures } = this.history;
    t.diagnostic(
      `${confirmed} confirmed, ${refused} refused, ${deliveries} delivered, ` +
        `${finishedCount} finished, the slowest add took ${Math.round(this.longestMs)} ms, ` +
        `at most ${this.history.mostAt("three")} of 3 at once`,
    );
    assert.deepEqual(failures.slice(0, 10), []);
  }

  async #lookUp(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      try {
        const { state } = await this.#broker.job(id);
        if (state === "finished") this.history.over(id);
      } catch (error) {
        const { code, message } = toSluiceError(error);
        if (code === "JOB_NOT_FOUND") this.history.fail(`${id}: ${message}`);
      }
    }
  }
}

function gatesOf(queue: string): Pick<NewJob, "gates"> {
  const gate = GATE_OF[queue];
  return gate === undefined ? {} : { gates: [gate] };
}

export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
