// Adds and works all the time, from clients of several kinds, and keeps a history of what they
// hear: a client that knows all nodes, one that knows a single node, and plain HTTP to any of them.
// Most jobs take a moment. Those of two queues take seconds, so that owners change while they are
// held; they are polled for, because a poll's leases live on whatever becomes of connections.

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { connectCluster } from "@sluice/cluster/client";
import { type Broker, type LeasedJob, type NewJob, toSluiceError } from "@sluice/protocol";
import { call } from "@sluice/server/testing/start";
import type { Queue, Sluice } from "sluice";
import { ClusterHistory, type Delivery } from "./cluster-history.ts";

// Two queues for each gate, which are in different partitions of six, and both have more jobs than
// the gate lets through.
const GATE_OF: Readonly<Record<string, string | undefined>> = {
  mail: undefined,
  images: undefined,
  reports: "two",
  sync: "two",
  billing: "paced",
  search: "paced",
  video: undefined,
  backup: undefined,
};
const HELD_QUEUES: readonly string[] = ["video", "backup"];
const GATES = {
  two: { concurrency: 2 },
  paced: { rate: 18, burst: 5 },
} as const;
const QUEUE = {
  lease: 8_000,
  retry: { attempts: 1_000, min: 1, max: 50 },
  results: { jobs: 100_000, ttl: 3_600_000 },
} as const;
const CREDITS = 6;
const WORK_MS = 10;
const HELD_WORK_MS = 4_000;
const HELD_AT_ONCE = 40;
const HELD_PAUSE_MS = 400;
const POLL_MS = 500;
// A delivery may be so late that its lease is older than it seems.
const LATE_MS = 4_000;
// Longer than the gate of two can keep up with.
const GATED_WORK_MS = 110;
const PAUSE_MS = 60;
const GATED_PAUSE_MS = 90;
const BACKLOG = 80;
const HTTP_PAUSE_MS = 100;
const OPEN_MAX = 1_000;
const SETTLE_MS = 90_000;
const LOOK_MS = 100;

/** What is put under load. */
export interface LoadedCluster {
  readonly urls: readonly string[];
  connect(urls?: string | readonly string[]): Promise<Sluice>;
}

export class ClusterLoad {
  readonly history = new ClusterHistory();
  readonly #cluster: LoadedCluster;
  readonly #lateMs: number;
  /** Of a client that knows all nodes. */
  readonly broker: Broker;
  #adding: Promise<unknown> = Promise.resolve();
  #isOver = true;
  #isDone = false;
  #next = 0;
  longestMs = 0;
  readonly errors: string[] = [];

  private constructor(cluster: LoadedCluster, broker: Broker, lateMs: number) {
    this.#lateMs = lateMs;
    this.#cluster = cluster;
    this.broker = broker;
  }

  // `lateMs`: how late a delivery to a consumer may be. Where packets vanish and come later it is
  // not known, and only polls say until when a lease lives at least.
  static async start(
    t: Pick<TestContext, "after">,
    cluster: LoadedCluster,
    { lateMs = LATE_MS } = {},
  ): Promise<ClusterLoad> {
    const broker = await connectCluster(cluster.urls);
    const load = new ClusterLoad(cluster, broker, lateMs);
    t.after(() => {
      load.#isDone = true;
      return broker.close();
    });
    await load.#prepare();
    for (const queue of Object.keys(GATE_OF)) await load.#fill(queue);
    for (const queue of Object.keys(GATE_OF)) {
      if (HELD_QUEUES.includes(queue)) load.#poll(queue);
      else await load.#work(queue);
    }
    const clients = [await cluster.connect(), await cluster.connect(cluster.urls[0]!)];
    await load.#add(clients);
    return load;
  }

  async #prepare(): Promise<void> {
    const { two, paced } = GATES;
    await this.broker.setGate("two", two);
    await this.broker.setGate("paced", paced);
    this.history.rule("two", two);
    this.history.rule("paced", paced);
    for (const queue of Object.keys(GATE_OF)) await this.broker.setQueue(queue, QUEUE);
  }

  // What waits at a gate shows whether it lets through too much.
  async #fill(queue: string): Promise<void> {
    const gates = gatesOf(queue);
    if (gates.gates === undefined) return;
    const names = Array.from({ length: BACKLOG }, () => `job ${this.#next++}`);
    const encoder = new TextEncoder();
    const jobs = names.map((name) => ({ payload: encoder.encode(JSON.stringify(name)), ...gates }));
    const outcomes = await this.broker.add(queue, jobs);
    for (const [i, { ok }] of outcomes.entries()) this.history.added(names[i]!, ok!.id);
  }

  async #work(queue: string): Promise<void> {
    const gate = GATE_OF[queue];
    const workMs = gate === "two" ? GATED_WORK_MS : WORK_MS;
    const consumer = await this.broker.consume(
      queue,
      { worker: `worker of ${queue}`, credits: CREDITS },
      (jobs) => {
        for (const job of jobs) {
          const at = performance.now();
          const delivery = deliveryOf(
            job,
            gate,
            at,
            at + Math.max(0, job.expiresIn - this.#lateMs),
          );
          this.history.delivered(delivery);
          setTimeout(() => void this.#finish(delivery), workMs);
        }
        setTimeout(() => consumer.addCredits(jobs.length), workMs);
      },
    );
  }

  // Through one node after the other: whichever of them ends, the jobs stay where they are.
  #poll(queue: string): void {
    let turn = 0;
    let held = 0;
    const poll = async (): Promise<void> => {
      const askedAt = performance.now();
      const max = HELD_AT_ONCE - held;
      if (max === 0) return wait(POLL_MS);
      for (const job of await this.#lease(queue, max, turn++)) {
        const at = performance.now();
        const delivery = deliveryOf(job, undefined, at, askedAt + QUEUE.lease);
        this.history.delivered(delivery);
        held++;
        setTimeout(() => {
          held--;
          void this.#finish(delivery);
        }, HELD_WORK_MS);
      }
    };
    void (async () => {
      while (!this.#isDone) await poll().catch(() => wait(POLL_MS));
    })();
  }

  async #lease(queue: string, max: number, turn: number): Promise<LeasedJob[]> {
    const options = { worker: `holder of ${queue}`, max, wait: POLL_MS };
    if (turn % 2 === 0) return this.broker.lease(queue, options);
    const url = this.#cluster.urls[turn % this.#cluster.urls.length]!;
    const line = `POST /v1/queues/${queue}/lease`;
    const { status, body } = await call(url, line, { body: { ...options, encoding: "base64" } });
    if (status !== 200) throw new Error(`HTTP ${status} ${JSON.stringify(body)}`);
    return body.jobs.map((job: { payloadBase64: string }) => ({
      ...job,
      payload: Buffer.from(job.payloadBase64, "base64"),
    }));
  }

  async #finish(delivery: Delivery): Promise<void> {
    const { id, lease } = delivery;
    this.history.worked(delivery, performance.now());
    try {
      const [outcome] = await this.broker.ack([{ lease }]);
      this.history.acked(lease, outcome?.error?.code ?? "acked");
      if (outcome?.error === undefined) this.history.finished(id);
      // Else its lease has run out, and it comes again; or an earlier word has come through.
    } catch {
      // It may have arrived or not: the history decides in the end.
    }
  }

  async #add(clients: readonly Sluice[]): Promise<void> {
    this.#isOver = false;
    const ways = Object.keys(GATE_OF).map(async (name, i) => {
      const queue = await clients[i % clients.length]!.queue<string>(name);
      const isGated = GATE_OF[name] !== undefined;
      return { add: () => this.#addOver(queue, name), pauseMs: pauseAfter(name), isGated };
    });
    const adders = (await Promise.all(ways)).map(({ add, pauseMs, isGated }) =>
      this.#loop(add, pauseMs, isGated),
    );
    const names = Object.keys(GATE_OF);
    let turn = 0;
    const overHttp = (): Promise<void> => this.#addHttp(names[turn++ % names.length]!, turn);
    this.#adding = Promise.all([...adders, this.#loop(overHttp, HTTP_PAUSE_MS)]);
  }

  async #loop(add: () => Promise<void>, pauseMs: number, isGated = false): Promise<void> {
    while (!this.#isOver) {
      if (isGated) await this.#room();
      const since = performance.now();
      await add();
      this.longestMs = Math.max(this.longestMs, performance.now() - since);
      await wait(pauseMs);
    }
  }

  // The gates let less through than is added: beyond this the end of a run would take too long.
  async #room(): Promise<void> {
    const { history } = this;
    while (!this.#isOver && history.confirmed - history.finishedCount > OPEN_MAX) {
      await wait(LOOK_MS);
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
      const answer = await call(url, `POST /v1/queues/${to}/jobs`, { body });
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
  async finish(t: Pick<TestContext, "diagnostic">): Promise<void> {
    this.#isOver = true;
    await this.#adding;
    // As long as something ends: a gate may need minutes for what has gathered during the faults.
    let left = Number.POSITIVE_INFINITY;
    for (let endAt = 0; this.history.open.length > 0; ) {
      const { open } = this.history;
      if (open.length < left) endAt = Date.now() + SETTLE_MS;
      if (Date.now() > endAt) break;
      left = open.length;
      await this.#lookUp(open.slice(0, 20));
      await wait(LOOK_MS);
    }
    this.#isDone = true;
    await this.#describeOpen();
    this.history.judge();
    const { confirmed, refused, deliveries, finishedCount, failures } = this.history;
    t.diagnostic(
      `${confirmed} confirmed, ${refused} refused, ${deliveries} delivered, ` +
        `${finishedCount} finished, the slowest add took ${Math.round(this.longestMs)} ms, ` +
        `at most ${this.history.mostAt("two")} of 2 at once`,
    );
    assert.deepEqual(failures.slice(0, 10), []);
  }

  // What the cluster says about the jobs that were not finished.
  async #describeOpen(): Promise<void> {
    for (const id of this.history.open.slice(0, 3)) {
      const known = await this.broker.why(id).catch((error: unknown) => String(error));
      const deliveries = this.history.deliveriesOf(id);
      this.history.fail(`${id}: ${JSON.stringify(known)}, delivered: ${deliveries || "never"}`);
    }
  }

  async #lookUp(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      try {
        const { state } = await this.broker.job(id);
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

function pauseAfter(queue: string): number {
  if (HELD_QUEUES.includes(queue)) return HELD_PAUSE_MS;
  return GATE_OF[queue] === undefined ? PAUSE_MS : GATED_PAUSE_MS;
}

function deliveryOf(
  { id, lease, payload }: LeasedJob,
  gate: string | undefined,
  at: number,
  until: number,
): Delivery {
  const name: string = JSON.parse(new TextDecoder().decode(payload));
  return { id, lease, name, gate, at, until };
}

export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
