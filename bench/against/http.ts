// Adds over HTTP to `sluice serve` of any tree: processor time of the server for a job.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { KeepAliveClient } from "../keep-alive-client.ts";
import { Scratch } from "../scratch.ts";
import { spreadOf } from "../spread.ts";

const PATH = "/v1/queues/bench/jobs";
const CONNECTIONS = 20;
const IN_FLIGHT = 4;
const JOBS_SINGLE = 30_000;
const JOBS_BATCH = 300_000;
// Linux counts in hundredths of a second.
const MICROS_PER_TICK = 10_000;
// Of the fields behind the name of the program, which may hold anything.
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;

export async function measureHttp(
  main: string,
  batch: number,
  runs: number,
  size: number,
): Promise<Record<string, number>> {
  using scratch = new Scratch();
  const fixed = ["--port", "0", "--dir", scratch.fresh(), "--log-level", "error", "--json"];
  const child = spawn(process.execPath, [main, "serve", ...fixed], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  process.on("exit", () => child.kill("SIGKILL"));
  const [line] = await once(child.stdout, "data");
  const { address } = JSON.parse(String(line));
  await fetch(`${address}/v1/queues/bench`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ capacity: { jobs: 10_000_000, bytes: 1e12 } }),
  });
  const jobs = (batch === 1 ? JOBS_SINGLE : JOBS_BATCH) * size;
  await addAll(address, batch, jobs);
  const cpu: number[] = [];
  const speeds: number[] = [];
  for (let i = 0; i < runs; i++) {
    const before = cpuMicros(child.pid!);
    speeds.push(await addAll(address, batch, jobs));
    cpu.push((cpuMicros(child.pid!) - before) / jobs);
  }
  child.kill("SIGKILL");
  await once(child, "exit");
  return { "server µs": spreadOf(cpu).median, "jobs/s": spreadOf(speeds).median };
}

function cpuMicros(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ");
  return (Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS])) * MICROS_PER_TICK;
}

// Answers jobs a second.
async function addAll(address: string, batch: number, jobs: number): Promise<number> {
  const job = { payload: "x".repeat(500), fairnessKey: "acme" };
  const body = JSON.stringify(
    batch === 1 ? job : { jobs: Array.from({ length: batch }, () => job) },
  );
  const requests = jobs / batch;
  let left = requests;
  let unanswered = requests;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const connections: KeepAliveClient[] = [];
  const post = (connection: KeepAliveClient): void => {
    if (left-- > 0) connection.post(PATH, body);
  };
  for (let i = 0; i < CONNECTIONS; i++) {
    const connection: KeepAliveClient = await KeepAliveClient.open(address, ({ status }) => {
      if (status >= 300) reject(new Error(`an add was answered ${status}`));
      if (--unanswered === 0) resolve();
      post(connection);
    });
    connections.push(connection);
  }
  const from = performance.now();
  for (const connection of connections) for (let i = 0; i < IN_FLIGHT; i++) post(connection);
  await promise;
  const ms = performance.now() - from;
  for (const connection of connections) connection.close();
  return (jobs * 1000) / ms;
}
