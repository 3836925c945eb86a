// The start of a server: from the start of its process to the first answer that has data. Each
// start is a process of its own, and the one before it was closed cleanly.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { QueueInfo } from "@sluice/protocol";
import { freePort } from "@sluice/server/testing/loopback";
import { grouped } from "../engine/load.ts";
import type { Figure, Group, Scale } from "../figure.ts";
import { Scratch } from "../scratch.ts";
import { figureOf, repeat, rounded, spreadOf } from "../spread.ts";
import { type Command, commandIn } from "./command.ts";
import { fill } from "./fill.ts";

const QUEUE = "jobs";
const PAYLOAD_BYTES = 512;
const LOOK_EVERY_MS = 2;
const START_MS_MAX = 60_000;
// Of processor time in /proc, as Linux counts it everywhere.
const TICK_MS = 10;

const CASES = [
  { name: "empty", jobs: 0, target: { atMost: 300 } },
  { name: "1m", jobs: 1_000_000, target: { atMost: 1500 } },
] as const;

interface Start {
  readonly answerMs: number;
  readonly cpuMs: number;
}

export const startGroups: readonly Group[] = CASES.map(({ name, jobs, target }) => ({
  name: `start-${name}`,
  run: async (scale) => ({ ...(await measure(scale, scale.size(jobs))), target }),
}));

async function measure(scale: Scale, jobs: number): Promise<Figure> {
  using scratch = new Scratch();
  const command = commandIn(scratch.fresh());
  const dir = scratch.fresh();
  if (jobs > 0) await fill({ dir, queue: QUEUE, jobs, payloadBytes: PAYLOAD_BYTES });
  // What Node has compiled is kept here: the first start finds nothing, as after an installation.
  const env = { ...process.env, XDG_CACHE_HOME: scratch.fresh() };
  const start = (): Promise<Start> => startOnce(command, dir, env, jobs);
  const first = await start();
  const starts = await repeat(scale.runs, start);
  const cpu = spreadOf(starts.map(({ cpuMs }) => cpuMs));
  const backlog = jobs === 0 ? "an empty directory" : `${grouped(jobs)} waiting jobs`;
  const values = starts.map(({ answerMs }) => answerMs);
  return figureOf(`${backlog}: from the start of sluice serve to its first answer`, "ms", values, {
    command: command.what,
    answer: "200 to GET /v1/queues",
    ...(jobs === 0 ? {} : { jobs, payloadBytes: PAYLOAD_BYTES }),
    disk: scratch.disk,
    clock: "files in the page cache; clean close before",
    cpuMs: cpu.median,
    firstEverMs: rounded(first.answerMs),
    firstEverCpuMs: first.cpuMs,
  });
}

async function startOnce(
  { program }: Command,
  dir: string,
  env: NodeJS.ProcessEnv,
  jobs: number,
): Promise<Start> {
  const port = await freePort();
  const from = performance.now();
  const args = [program, "serve", "--dir", dir, "--port", String(port), "--log-level", "fatal"];
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "ignore", "inherit"] });
  const kill = (): void => void child.kill("SIGKILL");
  process.on("exit", kill);
  try {
    const found = await firstAnswer(child, port, from + START_MS_MAX);
    const answerMs = performance.now() - from;
    const cpuMs = cpuMsOf(child.pid!);
    if (found !== jobs) throw new Error(`the server has ${found} jobs, not ${jobs}`);
    await stop(child);
    return { answerMs, cpuMs };
  } finally {
    process.off("exit", kill);
    kill();
  }
}

// How many jobs wait, once the server knows: until then it answers 503, and nothing before.
async function firstAnswer(child: ChildProcess, port: number, untilMs: number): Promise<number> {
  while (performance.now() < untilMs && child.exitCode === null && child.signalCode === null) {
    const body = await ask(port);
    if (body !== undefined) return waitingIn(body);
    await sleep(LOOK_EVERY_MS);
  }
  throw new Error(`no answer of the server, which ${child.exitCode ?? "still runs"}`);
}

function waitingIn(body: string): number {
  const { items } = JSON.parse(body) as { items: readonly QueueInfo[] };
  return items.reduce((sum, { stats }) => sum + stats.waiting, 0);
}

function ask(port: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const none = (): void => resolve(undefined);
  const options = { host: "127.0.0.1", port, path: "/v1/queues", agent: false };
  const request = get(options, (response) => {
    let body = "";
    response.setEncoding("utf8").on("data", (text) => {
      body += text;
    });
    response.on("end", () => resolve(response.statusCode === 200 ? body : undefined));
    response.on("error", none);
  });
  request.on("error", none);
  return promise;
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const [code] = await ended;
  if (code !== 0) throw new Error(`the server ended with ${code}`);
}

function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(" ");
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS;
}
