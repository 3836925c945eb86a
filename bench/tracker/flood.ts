// What a flood of one address does to others: their answers and their announces to a forwarder, in
// turns with quiet runs. The flood comes from a process of its own.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { Agent, createServer, get, type Server } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Figure, Group, Scale } from "../figure.ts";
import { Scratch } from "../scratch.ts";
import { figureOf } from "../spread.ts";
import { TrackerServer } from "./servers.ts";

const CLIENTS = 1000;
const EVERY_MS = 10;
const UPSTREAM_MS = 50;
const LOOK_MS = 250;
// Each takes 20 s.
const RUNS_MAX = 3;
const TIMES_MAX = 1.5;
const FLOODER = join(import.meta.dirname, "flooder.ts");

export const floodGroups: readonly Group[] = [
  {
    name: "flood",
    run: async (scale, report) => {
      for (const figure of await measure(scale)) report(figure);
    },
  },
];

async function measure(scale: Scale): Promise<Figure[]> {
  using scratch = new Scratch();
  const upstream = new TimedUpstream();
  await upstream.listen();
  const list = join(scratch.dir, "forwarders.yml");
  writeFileSync(list, `- uri: http://127.0.0.1:${upstream.port}/announce\n`);
  await using tracker = await TrackerServer.retracker(scratch.fresh(), ["--forwarders", list]);
  const clients = scale.size(CLIENTS);
  const quiet: Percentiles[] = [];
  const flooded: Percentiles[] = [];
  let floods = 0;
  // The first round is for the compilers.
  for (let run = -1; run < Math.min(scale.runs, RUNS_MAX); run++) {
    const without = await honest(tracker.port, upstream, clients);
    const flood = spawn(process.execPath, [FLOODER, String(tracker.port), String(run)], {
      stdio: ["ignore", "pipe", 2],
    });
    await once(flood.stdout!, "data");
    const beside = await honest(tracker.port, upstream, clients);
    floods += await ended(flood);
    await drained(tracker.port);
    if (run === -1) continue;
    quiet.push(without);
    flooded.push(beside);
  }
  upstream.close();
  const conditions = { clients, everyMs: EVERY_MS, upstreamMs: UPSTREAM_MS, floods };
  return (["answer", "forward"] as const).flatMap((kind) => {
    const times = flooded.map((one, run) => one[kind] / Math.max(0.1, quiet[run]![kind]));
    const name = kind === "answer" ? "answers" : "announces to a forwarder";
    const figure = (text: string, unit: string, values: readonly number[]): Figure =>
      figureOf(`${name} of honest clients, p99, ${text}`, unit, values, conditions);
    return [
      figure(
        "quiet",
        "ms",
        quiet.map((one) => one[kind]),
      ),
      figure(
        "beside a flood",
        "ms",
        flooded.map((one) => one[kind]),
      ),
      { ...figure("beside a flood against quiet", "×", times), target: { atMost: TIMES_MAX } },
    ];
  });
}

// Ends the flood; its exit code says how many thousand requests it sent, one at least.
async function ended(flood: ChildProcess): Promise<number> {
  const exit = once(flood, "exit");
  flood.kill("SIGTERM");
  const [code] = (await exit) as [number | null];
  if (code === null || code === 0) throw new Error("the flood sent nothing");
  return code;
}

// What the flood has left would be in the way of the next quiet run.
async function drained(port: number): Promise<void> {
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/stats?format=json`);
    const { queue_depth: depth } = (await response.json()) as { queue_depth: number };
    if (depth === 0) return;
    await pause(LOOK_MS);
  }
}

interface Percentiles {
  readonly answer: number;
  readonly forward: number;
}

let nextClient = 0;

// Each client has an address and a hash of its own, and announces it once.
async function honest(port: number, upstream: TimedUpstream, count: number): Promise<Percentiles> {
  const answers: Promise<number>[] = [];
  const forwards: Promise<number>[] = [];
  for (let i = 0; i < count; i++) {
    const client = nextClient++;
    const hash = `honest${String(client).padStart(14, "0")}`;
    forwards.push(upstream.arrival(hash));
    answers.push(announce(port, hash, `127.1.${(client >> 8) & 255}.${client & 255}`));
    await pause(EVERY_MS);
  }
  return { answer: p99(await Promise.all(answers)), forward: p99(await Promise.all(forwards)) };
}

function announce(port: number, hash: string, localAddress: string): Promise<number> {
  const path = `/announce?info_hash=${hash}&peer_id=${hash}&port=6881&left=1&event=started`;
  const from = performance.now();
  const agent = new Agent();
  return new Promise((resolve, reject) => {
    const request = get({ host: "127.0.0.1", port, path, localAddress, agent }, (response) => {
      let body = "";
      response.setEncoding("latin1").on("data", (chunk) => (body += chunk));
      response.on("end", () => {
        if (body.includes("failure reason")) reject(new Error(body));
        else resolve(performance.now() - from);
        agent.destroy();
      });
    });
    request.on("error", reject);
  });
}

function p99(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))]!;
}

// A forwarder that takes a while, and knows when each hash came.
class TimedUpstream {
  readonly #server: Server;
  readonly #waiting = new Map<string, () => void>();

  constructor() {
    const body = "d8:intervali1800e5:peers0:e";
    this.#server = createServer((request, response) => {
      const hash = /info_hash=(honest\d+)/.exec(request.url ?? "")?.[1];
      if (hash !== undefined) this.#waiting.get(hash)?.();
      setTimeout(() => response.end(body), UPSTREAM_MS);
    });
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  // Milliseconds from now until the hash is announced here.
  arrival(hash: string): Promise<number> {
    const from = performance.now();
    return new Promise((resolve) => {
      this.#waiting.set(hash, () => {
        this.#waiting.delete(hash);
        resolve(performance.now() - from);
      });
    });
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
