// The 99th percentile of a client's answer, without forwarders and with 200 that are slow or dead.

import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import type { Figure, Group, Scale } from "../figure.ts";
import { Scratch } from "../scratch.ts";
import { figureOf } from "../spread.ts";
import { compileLoad, runLoad } from "./load.ts";
import { TrackerServer } from "./servers.ts";

const FORWARDERS = 200;
// Short turns, many of them: what disturbs the machine then meets both alike.
const SECONDS = 2;
const TURNS_PER_RUN = 2;
const WARM_UP_SECONDS = 10;
const IN_FLIGHT = 8;
const HASHES = 100;
const PEERS = 1000;
const TIMES_MAX = 1.2;

export const slowForwarderGroups: readonly Group[] = [{ name: "slow-forwarders", run: measure }];

async function measure(scale: Scale): Promise<Figure[]> {
  using scratch = new Scratch();
  const program = compileLoad(scratch.dir);
  if (program === undefined) return [];
  const servers = await Promise.all(Array.from({ length: FORWARDERS / 2 }, listenInSilence));
  const list = join(scratch.dir, "forwarders.yml");
  writeFileSync(list, entries(servers).join(""));
  await using plain = await TrackerServer.retrackerWithoutPace(scratch.fresh());
  await using busy = await TrackerServer.retrackerWithoutPace(scratch.fresh(), [
    "--forwarders",
    list,
  ]);
  let errors = 0;
  const load = async ({ port }: TrackerServer, seconds: number): Promise<number> => {
    const shared = { hashes: HASHES, peers: PEERS, seconds, inFlight: IN_FLIGHT };
    const result = await runLoad(program, { mode: "keep", port, ...shared });
    errors += result.errors;
    return result.p99;
  };
  await load(plain, WARM_UP_SECONDS);
  await load(busy, WARM_UP_SECONDS);
  // While the queue fills for the first time, new hashes are refused.
  errors = 0;
  const without: number[] = [];
  const withThem: number[] = [];
  for (let turn = 0; turn < scale.runs * TURNS_PER_RUN; turn++) {
    // The order alternates, so that neither server is always measured after the other.
    const isPlainFirst = turn % 2 === 0;
    if (isPlainFirst) without.push(await load(plain, SECONDS));
    withThem.push(await load(busy, SECONDS));
    if (!isPlainFirst) without.push(await load(plain, SECONDS));
  }
  const { pending_jobs: pendingJobs, active_workers: workers } = await statisticsOf(busy);
  if (pendingJobs === 0) throw new Error("nothing was forwarded while the answers were measured");
  for (const server of servers) server.close();
  const times = withThem.map((p99, run) => p99 / Math.max(1, without[run]!));
  const conditions = {
    forwarders: `${FORWARDERS / 2} that accept and never answer, ${FORWARDERS / 2} that refuse`,
    hashes: HASHES,
    peers: PEERS,
    inFlight: IN_FLIGHT,
    errors,
    pendingJobs,
    workers,
  };
  const against = "p99 with slow or dead forwarders against without";
  return [
    figureOf("answer, p99, without forwarders", "µs", without, conditions),
    figureOf("answer, p99, with 200 slow or dead forwarders", "µs", withThem, conditions),
    { ...figureOf(against, "×", times, conditions), target: { atMost: TIMES_MAX } },
  ];
}

async function statisticsOf({ port }: TrackerServer) {
  const response = await fetch(`http://127.0.0.1:${port}/stats?format=json`);
  return (await response.json()) as { pending_jobs: number; active_workers: number };
}

async function listenInSilence(): Promise<Server> {
  const server = createServer((socket) => socket.on("error", () => {}).resume());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  server.unref();
  return server;
}

function entries(servers: readonly Server[]): string[] {
  return servers.flatMap((server, i) => {
    const { port } = server.address() as { port: number };
    return [
      `- uri: http://127.0.0.1:${port}/announce\n  name: slow${i}\n`,
      `- uri: http://127.0.0.1:${i + 1}/announce\n  name: dead${i}\n`,
    ];
  });
}
