// What a flood of one address does to others: their answers and their announces to a forwarder.
// Quiet runs and runs beside a flood take turns, quiet first and last by turns (A B, B A), so that
// a machine that becomes slower or faster changes both alike. A run has few answers above its 99th
// percentile, so the percentiles are of all runs together, and each round's is in the conditions.
// The flood comes from a process of its own. Its pace is set by the tracker, and its share of a
// processor is in the conditions: two cores have room for the tracker, the clients and that share.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { Agent, createServer, get, type Server } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Conditions, Figure, Group, Scale } from "../figure.ts";
import { percentileOf } from "../percentile.ts";
import { Scratch } from "../scratch.ts";
import { rounded, spreadConditions, spreadOf } from "../spread.ts";
import { TrackerServer } from "./servers.ts";

const CLIENTS = 1000;
const EVERY_MS = 10;
const UPSTREAM_MS = 50;
const LOOK_MS = 250;
const TIMES_MAX = 1.5;
const FLOODER = join(import.meta.dirname, "flooder.ts");
const KINDS = ["answer", "forward"] as const;
const NAMES = { answer: "answers", forward: "announces to a forwarder" } as const;

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
  const quiet: Times[] = [];
  const flooded: Times[] = [];
  const shares: number[] = [];
  let floods = 0;
  const runQuiet = async (): Promise<void> => {
    quiet.push(await honest(tracker.port, upstream, clients));
  };
  const runFlooded = async (): Promise<void> => {
    const flood = await flooding(tracker.port, shares.length);
    flooded.push(await honest(tracker.port, upstream, clients));
    const { sent, cpuShare } = await ended(flood);
    floods += sent;
    shares.push(cpuShare);
    await drained(tracker.port);
  };
  // The first round is for the compilers.
  for (let run = -1; run < scale.runs; run++) {
    for (const one of run % 2 === 0 ? [runQuiet, runFlooded] : [runFlooded, runQuiet]) await one();
    if (run === -1) for (const all of [quiet, flooded, shares]) all.length = 0;
  }
  upstream.close();
  const floodCores = rounded(spreadOf(shares).median);
  const conditions = { clients, everyMs: EVERY_MS, upstreamMs: UPSTREAM_MS, floods, floodCores };
  return KINDS.flatMap((kind) => figuresOf(kind, quiet, flooded, conditions));
}

function figuresOf(
  kind: Kind,
  quiet: readonly Times[],
  flooded: readonly Times[],
  conditions: Conditions,
): Figure[] {
  const figure = (text: string, unit: string, value: number, rounds: number[]): Figure => ({
    metric: `${NAMES[kind]} of honest clients, p99, ${text}`,
    value: rounded(value),
    unit,
    conditions: { ...conditions, runs: rounds.length, ...spreadConditions(spreadOf(rounds)) },
  });
  const ofAll = (runs: readonly Times[], share: number): number =>
    percentileOf(
      runs.flatMap((one) => one[kind]),
      share,
    );
  const p99OfEach = (runs: readonly Times[]): number[] =>
    runs.map((one) => percentileOf(one[kind], 0.99));
  const [without, beside] = [p99OfEach(quiet), p99OfEach(flooded)];
  const times = beside.map((one, run) => one / without[run]!);
  const p50Times = rounded(ofAll(flooded, 0.5) / ofAll(quiet, 0.5));
  const ratio = figure(
    "beside a flood against quiet",
    "×",
    ofAll(flooded, 0.99) / ofAll(quiet, 0.99),
    times,
  );
  return [
    figure("quiet", "ms", ofAll(quiet, 0.99), without),
    figure("beside a flood", "ms", ofAll(flooded, 0.99), beside),
    {
      ...ratio,
      conditions: { ...ratio.conditions, p50Times },
      target: { atMost: TIMES_MAX },
    },
  ];
}

async function flooding(port: number, run: number): Promise<ChildProcess> {
  const flood = spawn(process.execPath, [FLOODER, String(port), String(run)], {
    stdio: ["ignore", "pipe", 2],
  });
  await once(flood.stdout!, "data");
  return flood;
}

// Ends the flood; its last line says how much it sent, and what share of a core it took.
async function ended(flood: ChildProcess): Promise<{ sent: number; cpuShare: number }> {
  const line = once(flood.stdout!, "data");
  const exit = once(flood, "exit");
  flood.kill("SIGTERM");
  const told = JSON.parse(String((await line)[0]));
  await exit;
  if (told.sent === 0) throw new Error("the flood sent nothing");
  return told;
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

type Kind = (typeof KINDS)[number];

// Milliseconds of each client of a run.
type Times = Readonly<Record<Kind, readonly number[]>>;

let nextClient = 0;

// Each client has an address and a hash of its own, and announces it once.
async function honest(port: number, upstream: TimedUpstream, count: number): Promise<Times> {
  const answers: Promise<number>[] = [];
  const forwards: Promise<number>[] = [];
  for (let i = 0; i < count; i++) {
    const client = nextClient++;
    const hash = `honest${String(client).padStart(14, "0")}`;
    forwards.push(upstream.arrival(hash));
    answers.push(announce(port, hash, `127.1.${(client >> 8) & 255}.${client & 255}`));
    await pause(EVERY_MS);
  }
  return { answer: await Promise.all(answers), forward: await Promise.all(forwards) };
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
