// Flows beside the other load: three jobs, and one that waits for them and reads their results. Who
// takes a job writes it down, and again before it is acked. In the end every flow that was answered
// has run, and no job was taken before those that it waits for were acked.

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Broker, FlowJob, LeasedJob } from "@sluice/protocol";
import { FLOWS } from "../broker-faults/record.ts";
import { demand } from "../demand.ts";

const CHILDREN = 3;
const LEASE_MS = 200;
const ROUNDS_MAX = 500;

interface Payload {
  readonly flow: string;
  readonly part: number;
}

type Line = { readonly added: string } | { readonly took: string } | { readonly acking: string };

const fileIn = (folder: string): string => join(folder, "flows.jsonl");

const name = ({ flow, part }: Payload): string => `${flow} ${part}`;

// One of them is long enough to be kept in the log.
const LONG = 2_000;
const resultOf = (payload: Payload): string =>
  payload.part === 0 ? name(payload).padEnd(LONG) : name(payload);

// Adds flows and works them off until the process is killed.
export async function makeFlows(broker: Broker, folder: string, life: number): Promise<void> {
  await setUp(broker);
  void work(broker, folder);
  for (let i = 0; ; i++) {
    const flow = `${life}-${i}`;
    await broker.addFlow(FLOWS, jobsOf(flow));
    write(folder, { added: flow });
    await setTimeout(5);
  }
}

async function setUp(broker: Broker): Promise<void> {
  const retry = { attempts: 1000, min: 0, max: 0, deliveries: 10_000 };
  await broker.setQueue(FLOWS, { retry, results: { jobs: 0 } });
}

function jobsOf(flow: string): FlowJob[] {
  return Array.from({ length: CHILDREN + 1 }, (_, part) => {
    const payload = Buffer.from(JSON.stringify({ flow, part } satisfies Payload));
    if (part < CHILDREN) return { queue: FLOWS, payload };
    return { queue: FLOWS, payload, after: [{ job: 0 }, { job: 1 }, { job: 2 }] };
  });
}

async function work(broker: Broker, folder: string): Promise<void> {
  for (;;) for (const job of await take(broker)) await run(broker, folder, job);
}

function take(broker: Broker): Promise<LeasedJob[]> {
  return broker.lease(FLOWS, { max: 5, wait: 50, lease: LEASE_MS });
}

async function run(broker: Broker, folder: string, job: LeasedJob): Promise<void> {
  const payload: Payload = JSON.parse(Buffer.from(job.payload).toString());
  write(folder, { took: name(payload) });
  if (payload.part === CHILDREN) {
    const { items } = await broker.dependencies(job.id);
    const results = items.map(({ result }) => Buffer.from(result ?? []).toString());
    const wanted = [0, 1, 2].map((part) => resultOf({ ...payload, part }));
    demand(String(results) === String(wanted), "results are kept", () => `got ${results}`);
  }
  write(folder, { acking: name(payload) });
  await broker.ack([{ lease: job.lease, result: Buffer.from(resultOf(payload)) }]);
}

function write(folder: string, line: Line): void {
  appendFileSync(fileIn(folder), `${JSON.stringify(line)}\n`);
}

// Works off what is left, and judges all of it. Answers how many flows there were.
export async function judgeFlows(broker: Broker, folder: string): Promise<number> {
  await setUp(broker);
  for (let round = 0; ; round++) {
    demand(round < ROUNDS_MAX, "flows drain", () => "jobs of flows are left");
    for (const job of await take(broker)) await run(broker, folder, job);
    const { waiting, delayed, blocked, running } = (await broker.queue(FLOWS)).stats;
    if (waiting + delayed + blocked + running === 0) break;
  }
  const acked = new Set<string>();
  const added: string[] = [];
  for (const line of linesOf(folder)) {
    if ("added" in line) added.push(line.added);
    else if ("acking" in line) acked.add(line.acking);
    else checkOrder(line.took, acked);
  }
  for (const flow of added) {
    for (let part = 0; part <= CHILDREN; part++) {
      const job = name({ flow, part });
      demand(acked.has(job), "no confirmed flow lost", () => `${job} never ran`);
    }
  }
  return added.length;
}

function checkOrder(took: string, acked: ReadonlySet<string>): void {
  const [flow, part] = took.split(" ") as [string, string];
  if (Number(part) < CHILDREN) return;
  for (let child = 0; child < CHILDREN; child++) {
    const isOver = acked.has(name({ flow, part: child }));
    demand(isOver, "never before its dependencies", () => `${took} before ${child}`);
  }
}

function linesOf(folder: string): Line[] {
  if (!existsSync(fileIn(folder))) return [];
  const lines = readFileSync(fileIn(folder), "utf8").split("\n");
  return lines.filter((line) => line.endsWith("}")).map((line) => JSON.parse(line));
}
