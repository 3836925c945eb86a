// Jobs are added to three queues in turns: one without a policy, one with templates, one with a
// script that says the same. What a policy costs is the processor time beyond the first, threads
// included; what it delays is the time an add takes beyond the first.

import { type BulkItem, type Policy, type Queue, Sluice } from "sluice";
import type { Figure, Group, Scale } from "../figure.ts";
import { figureOf } from "../spread.ts";

const JOBS_PER_TURN = 50_000;
// One by one, adds take longer: fewer of them tell as much.
const SINGLES_PER_TURN = 5_000;
const TURNS_PER_RUN = 4;
const PAYLOAD = Buffer.alloc(512);

const TEMPLATES: Policy<Uint8Array> = {
  fairnessKey: "{headers.tenant}",
  gates: ["provider:{headers.provider}"],
  weight: { by: "{headers.plan}", values: { gold: 5, silver: 2 }, default: 1 },
};

const SCRIPT: Policy<Uint8Array> = {
  lua: `
    local weights = { gold = 5, silver = 2 }
    function on_enqueue(msg)
      return {
        fairness_key = msg.headers.tenant,
        throttle_keys = { "provider:" .. msg.headers.provider },
        weight = weights[msg.headers.plan] or 1,
      }
    end`,
};

export const costGroups: readonly Group[] = [1, 100, 1000].map((batch) => ({
  name: `cost-${batch}`,
  run: (scale) => measure(scale, batch),
}));

interface Turn {
  readonly cpuMicros: number;
  readonly micros: number;
}

async function measure(scale: Scale, batch: number): Promise<Figure[]> {
  await using sluice = await Sluice.open({ durability: "memory" });
  const policies = { none: {}, templates: { policy: TEMPLATES }, lua: { policy: SCRIPT } };
  const jobs = scale.size(batch === 1 ? SINGLES_PER_TURN : JOBS_PER_TURN);
  const turns = scale.runs * TURNS_PER_RUN;
  const taken: Record<string, Turn[]> = { none: [], templates: [], lua: [] };
  // The first turn of each warms up.
  for (let turn = -1; turn < turns; turn++) {
    for (const [name, policy] of Object.entries(policies)) {
      const queue = await sluice.queue<Uint8Array>(name, { codec: "bytes", ...policy });
      const took = await takeTurn(queue, batch, jobs);
      if (turn >= 0) taken[name]!.push(took);
      await queue.purge();
    }
  }
  const beyond = (name: string, of: keyof Turn): number[] =>
    taken[name]!.map((turn, i) => turn[of] - taken.none![i]![of]);
  const told = { durability: "memory", batch, jobs };
  const of = `batches of ${batch}`;
  return [
    figureOf(`templates, ${of}`, "µs processor time/job", beyond("templates", "cpuMicros"), told),
    figureOf(`Lua, ${of}`, "µs processor time/job", beyond("lua", "cpuMicros"), told),
    figureOf(`Lua, ${of}, one in flight`, "µs longer/job", beyond("lua", "micros"), told),
  ];
}

async function takeTurn(queue: Queue<Uint8Array>, batch: number, jobs: number): Promise<Turn> {
  const items = itemsOf(batch);
  const cpu = process.cpuUsage();
  const from = performance.now();
  for (let added = 0; added < jobs; added += batch) await queue.addBulk(items);
  const micros = ((performance.now() - from) * 1000) / jobs;
  const { user, system } = process.cpuUsage(cpu);
  return { micros, cpuMicros: (user + system) / jobs };
}

function itemsOf(batch: number): BulkItem<Uint8Array>[] {
  const plans = ["gold", "silver", "free"];
  return Array.from({ length: batch }, (_, i) => ({
    payload: PAYLOAD,
    headers: { tenant: `tenant-${i % 100}`, provider: `p${i % 7}`, plan: plans[i % 3]! },
  }));
}
