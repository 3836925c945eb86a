// What a call costs that is made at a node which has to forward it, beside the same call at the
// owner.

import type { Group, Report, Scale } from "../figure.ts";
import { Process } from "../process.ts";
import { figureOf } from "../spread.ts";
import { cpuMicrosOf } from "./cpu.ts";
import { PAYLOAD_BYTES } from "./load.ts";
import { Nodes } from "./nodes.ts";
import { programOf } from "./team.ts";

const NODES = 3;
const PARTITION = 0;
const ALONE = 1000;
const TOGETHER = 20_000;
const IN_FLIGHT = 64;
const CALLS = ["stats", "add"] as const;

interface Cost {
  readonly p50Ms: number;
  // Of all nodes, for a call.
  readonly micros: number;
}

async function costOf(nodes: Nodes, producer: Process, call: string, scale: Scale): Promise<Cost> {
  await producer.ask("together", call, scale.size(TOGETHER), IN_FLIGHT);
  const p50Ms = await producer.ask<number>("alone", call, scale.size(ALONE));
  const before = cpuMicrosOf(nodes.pids);
  await producer.ask("together", call, scale.size(TOGETHER), IN_FLIGHT);
  const micros = (cpuMicrosOf(nodes.pids) - before) / scale.size(TOGETHER);
  await producer.ask("ids");
  return { p50Ms, micros };
}

async function measureCall(
  nodes: Nodes,
  call: (typeof CALLS)[number],
  scale: Scale,
  report: Report,
): Promise<void> {
  const { owner, other } = await nodes.ownerOf(PARTITION);
  const places = { owner, "another node": other };
  const costs = new Map<string, Cost[]>(Object.keys(places).map((place) => [place, []]));
  for (let run = 0; run < scale.runs; run++) {
    for (const [place, url] of Object.entries(places)) {
      await using producer = new Process(programOf("producer"));
      await producer.ask("open", url, nodes.queuesIn([PARTITION]));
      costs.get(place)!.push(await costOf(nodes, producer, call, scale));
    }
  }
  const conditions = { ...nodes.conditions, nodes: NODES, payload: `${PAYLOAD_BYTES} bytes` };
  for (const [place, found] of costs) {
    const name = `${call} at ${place === "owner" ? "the owner" : place}`;
    const alone = { inFlight: 1, callsPerRun: scale.size(ALONE) };
    const together = { inFlight: IN_FLIGHT, callsPerRun: scale.size(TOGETHER) };
    const times = found.map(({ p50Ms }) => p50Ms);
    const micros = found.map((cost) => cost.micros);
    report(figureOf(`${name}, p50`, "ms", times, { ...conditions, ...alone }));
    const cpu = `${name}, processor time of all nodes`;
    report(figureOf(cpu, "µs/call", micros, { ...conditions, ...together }));
  }
}

async function measure(scale: Scale, report: Report): Promise<void> {
  await using nodes = await Nodes.start(NODES);
  for (const call of CALLS) await measureCall(nodes, call, scale, report);
}

export const forwardingGroups: readonly Group[] = [{ name: "forwarding", run: measure }];
