// The job server under an open load: 10,000 submissions a second of 200 submitters, over HTTP, from
// another process. An answer means that the job is durable.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Bench, Report, Scale } from "../figure.ts";
import { KeepAliveClient } from "../keep-alive-client.ts";
import { percentileOf } from "../percentile.ts";
import { Scratch } from "../scratch.ts";
import { figureOf, repeat } from "../spread.ts";

const MAIN = fileURLToPath(new URL("../../apps/jobserver/src/main.ts", import.meta.url));
const HANDLERS = fileURLToPath(new URL("handlers.ts", import.meta.url));

const RATE = 10_000;
const SECONDS = 10;
const SUBMITTERS = 200;
const PREFERRED = 20;
const CONNECTIONS = 50;
// The server's own default. With jobs that do nothing it bounds how many are confirmed at a time.
const WORKERS = 10;
const TICK_MS = 5;

export const jobserverBench: Bench = {
  name: "jobserver",
  groups: [{ name: "submissions", run: measure }],
};

interface Run {
  readonly seconds: number;
  // From when a submission was due, not from when it was sent.
  readonly answerMs: readonly number[];
  // How long after that it was sent: what of the answer's time is the sender's own.
  readonly lateMs: readonly number[];
  readonly refused: number;
  readonly waits: Waits;
}

type Waits = Record<"preferred" | "other", { count: number; p50: number; p99: number }>;

async function measure(scale: Scale, report: Report): Promise<void> {
  using scratch = new Scratch();
  const { address, stop } = await start(scratch.fresh());
  try {
    const seconds = Math.max(1, scale.size(SECONDS));
    await load(address, 1);
    tell(await repeat(scale.runs, () => load(address, seconds)), seconds, scratch, report);
  } finally {
    await stop();
  }
}

function tell(runs: readonly Run[], seconds: number, { disk }: Scratch, report: Report): void {
  const conditions = {
    durability: "fsync",
    disk,
    offeredPerSecond: RATE,
    submitters: SUBMITTERS,
    preferred: PREFERRED,
    workers: WORKERS,
    secondsPerRun: seconds,
  };
  const figure = (metric: string, unit: string, read: (run: Run) => number): void =>
    report(figureOf(metric, unit, runs.map(read), conditions));
  figure("submissions answered with an id", "per second", (run) => {
    return (run.answerMs.length - run.refused) / run.seconds;
  });
  figure("submissions refused", "jobs", ({ refused }) => refused);
  figure("answer, p50", "ms", ({ answerMs }) => percentileOf(answerMs, 0.5));
  figure("answer, p99", "ms", ({ answerMs }) => percentileOf(answerMs, 0.99));
  figure("sent after it was due, p99", "ms", ({ lateMs }) => percentileOf(lateMs, 0.99));
  for (const group of ["preferred", "other"] as const) {
    figure(`submission → handler, ${group}, p50`, "ms", ({ waits }) => waits[group].p50);
    figure(`submission → handler, ${group}, p99`, "ms", ({ waits }) => waits[group].p99);
  }
}

async function load(address: string, seconds: number): Promise<Run> {
  const answerMs: number[] = [];
  const lateMs: number[] = [];
  let refused = 0;
  const connections: KeepAliveClient[] = [];
  for (let i = 0; i < CONNECTIONS; i++) {
    const connection = await KeepAliveClient.open(address, ({ status, ms }) => {
      answerMs.push(ms);
      if (status !== 201) refused += 1;
    });
    connections.push(connection);
  }
  const offered = RATE * seconds;
  const from = performance.now();
  for (let sent = 0; sent < offered; ) {
    const due = Math.min(offered, Math.floor(((performance.now() - from) * RATE) / 1000));
    for (; sent < due; sent++) {
      const dueAt = from + (sent * 1000) / RATE;
      lateMs.push(performance.now() - dueAt);
      submit(connections[sent % CONNECTIONS]!, sent % SUBMITTERS, dueAt);
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  while (answerMs.length < offered) {
    if (connections.some(({ isOver }) => isOver)) throw new Error("the server hung up");
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  const tookSeconds = (performance.now() - from) / 1000;
  for (const connection of connections) connection.close();
  return { seconds: tookSeconds, answerMs, lateMs, refused, waits: await waitsOf(address) };
}

function submit(connection: KeepAliveClient, submitter: number, dueAt: number): void {
  const group = submitter < PREFERRED ? "preferred" : "other";
  const args = { group, dueAt: performance.timeOrigin + dueAt };
  const job = { type: "stamp", worker_id: `worker-${submitter}`, arguments: args };
  connection.post("/job/add", JSON.stringify(job), dueAt);
}

// The last in the last tier: when it runs, all others have run.
async function waitsOf(address: string): Promise<Waits> {
  for (;;) {
    const stats = (await (await fetch(`${address}/job/queue/stats`)).json()) as Depths;
    if (stats.fast_queue_depth + stats.slow_queue_depth === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const added = await fetch(`${address}/job/add`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ type: "tell" }),
  });
  const { uid } = (await added.json()) as { uid: string };
  const result = await fetch(`${address}/job/result/${uid}?wait_seconds=30`);
  return ((await result.json()) as { data: Waits }).data;
}

interface Depths {
  readonly fast_queue_depth: number;
  readonly slow_queue_depth: number;
}

async function start(dir: string): Promise<{ address: string; stop: () => Promise<void> }> {
  const preferred = Array.from({ length: PREFERRED }, (_, i) => `worker-${i}`);
  const child = spawn(process.execPath, [MAIN, "--handlers", HANDLERS], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      PATH: process.env.PATH,
      DATA_DIR: dir,
      LISTEN_ADDRESS: "127.0.0.1:0",
      LOG_LEVEL: "error",
      FAST_QUEUE_SIZE: "1000000",
      SLOW_QUEUE_SIZE: "1000000",
      MAX_JOBS: String(WORKERS),
      PRIORITY_WORKER_IDS: preferred.join(","),
    },
  });
  const kill = (): void => void child.kill("SIGKILL");
  process.on("exit", kill);
  const stop = async (): Promise<void> => {
    process.off("exit", kill);
    child.kill();
    if (child.exitCode === null) await once(child, "exit");
  };
  const address = await new Promise<string>((resolve, reject) => {
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      said += text;
      const [, found] = /job server on (\S+),/.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
  return { address, stop };
}
