// What one queue with many lanes costs when it is spread over partitions: beside the same queue in
// one partition, a queue in each partition, and plain JetStream.

import type { Figure, Group, Report, Scale } from "../figure.ts";
import { figureOf } from "../spread.ts";
import { openPlain } from "./lifecycle.ts";
import { BATCH_JOBS, BULKS_IN_FLIGHT, LANES, PAYLOAD_BYTES } from "./load.ts";
import { Nodes } from "./nodes.ts";
import { type Run, Team } from "./team.ts";

const NODES = 3;
// What a worker has at once: enough for batches from each of twelve partitions, and not enough.
const MANY = 1000;
const FEW = 100;
const JOBS = 120_000;
const PLAIN_JOBS = 30_000;
// A partition keeps 21 MiB of payloads in memory, about 40,000 jobs. It reads those beyond back
// from NATS: when the consumer fell behind, a job of one partition cost 14 µs on its node instead
// of 8, and one of a spread queue, whose partitions keep three times as many, seemed cheap.
const WAITING = 24_000;

// All that is spent on a job, by nodes, nats-servers and clients.
const PER_JOB_MAX = 1.4;
// The busiest node, of what the only busy one spent.
const BUSIEST_MAX = 0.5;

const ONE = "one queue in one partition";
const THREE = "one queue spread over 3";
const FEW_AT_ONCE = [
  [`${ONE}, a worker of ${FEW}`, "one", 1],
  [`${THREE}, a worker of ${FEW}`, "three", 3],
  [`one queue spread over 12, a worker of ${FEW}`, "twelve", 12],
] as const;
// What a way is compared with.
const baseOf = (title: string): string => (title.endsWith(` of ${FEW}`) ? FEW_AT_ONCE[0][0] : ONE);

const inAll = ({ nodesMicros, natsMicros, clientsMicros }: Run): number =>
  nodesMicros + natsMicros + clientsMicros;

class Results {
  readonly #runs = new Map<string, Run[]>();

  note(title: string, run: Run): void {
    this.#runs.set(title, [...(this.#runs.get(title) ?? []), run]);
  }

  report(conditions: Figure["conditions"], report: Report): void {
    for (const [title, runs] of this.#runs) {
      const figure = (what: string, of: (run: Run) => number): void =>
        report(figureOf(`processor time, ${title}${what}`, "µs/job", runs.map(of), conditions));
      figure(", in all", inAll);
      figure(", nodes", ({ nodesMicros }) => nodesMicros);
      figure(", the busiest node", ({ busiestMicros }) => busiestMicros);
      figure(", nats-servers", ({ natsMicros }) => natsMicros);
      figure(", clients", ({ clientsMicros }) => clientsMicros);
    }
    for (const title of this.#runs.keys()) {
      if (title === baseOf(title)) continue;
      const most = title === THREE ? { cost: PER_JOB_MAX, busiest: BUSIEST_MAX } : {};
      this.#ratio(`${title}, cost for a job`, title, inAll, most.cost, conditions, report);
      if (title.includes("queue")) {
        const busiest = ({ busiestMicros }: Run): number => busiestMicros;
        this.#ratio(`${title}, the busiest node`, title, busiest, most.busiest, conditions, report);
      }
    }
  }

  // Against one partition in the same round.
  #ratio(
    metric: string,
    title: string,
    of: (run: Run) => number,
    atMost: number | undefined,
    conditions: Figure["conditions"],
    report: Report,
  ): void {
    const base = this.#runs.get(baseOf(title))!;
    const ratios = this.#runs.get(title)!.map((run, round) => of(run) / of(base[round]!));
    const figure = figureOf(metric, "× one partition", ratios, conditions);
    report(atMost === undefined ? figure : { ...figure, target: { atMost } });
  }
}

async function runOf(
  nodes: Nodes,
  queues: readonly string[],
  { spread = 1, concurrency = MANY, jobs }: { spread?: number; concurrency?: number; jobs: number },
): Promise<Run> {
  await using team = new Team(nodes);
  await team.producer.ask("open", nodes.urls, queues, { spread });
  await team.consumer.ask("open", nodes.urls, queues, { concurrency });
  // A process that was just started has compiled nothing yet.
  const options = { lanes: LANES, waiting: WAITING };
  await team.run(jobs, "bulk", options);
  return await team.run(jobs, "bulk", options);
}

async function measure(scale: Scale, report: Report): Promise<void> {
  await using nodes = await Nodes.start(NODES);
  await using plain = await openPlain(nodes);
  const jobs = scale.size(JOBS);
  const everywhere = nodes.queuesIn(Array.from({ length: nodes.partitions }, (_, i) => i));
  await plain.run(scale.size(PLAIN_JOBS), "singles");
  const results = new Results();
  for (let run = 0; run < scale.runs; run++) {
    results.note(ONE, await runOf(nodes, ["one"], { jobs }));
    results.note("a queue in each of 12", await runOf(nodes, everywhere, { jobs }));
    results.note(THREE, await runOf(nodes, ["three"], { spread: 3, jobs }));
    results.note("one queue spread over 12", await runOf(nodes, ["twelve"], { spread: 12, jobs }));
    results.note("plain JetStream", await plain.run(scale.size(PLAIN_JOBS), "singles"));
  }
  results.report({ ...conditionsOf(nodes, MANY), jobsPerRun: jobs }, report);
}

// The same with a worker whose credits are scarce.
async function measureFew(scale: Scale, report: Report): Promise<void> {
  await using nodes = await Nodes.start(NODES);
  const jobs = scale.size(JOBS);
  const results = new Results();
  for (let run = 0; run < scale.runs; run++) {
    for (const [title, queue, spread] of FEW_AT_ONCE) {
      results.note(title, await runOf(nodes, [queue], { spread, concurrency: FEW, jobs }));
    }
  }
  results.report({ ...conditionsOf(nodes, FEW), jobsPerRun: jobs }, report);
}

function conditionsOf(nodes: Nodes, concurrency: number): Figure["conditions"] {
  return {
    ...nodes.conditions,
    nodes: NODES,
    added: `addBulk of ${BATCH_JOBS}, ${BULKS_IN_FLIGHT} in flight, ${LANES} lanes`,
    worker: `${concurrency} at once`,
    payload: `${PAYLOAD_BYTES} bytes`,
    waitingAtMost: WAITING,
  };
}

export const spreadGroups: readonly Group[] = [
  { name: "spread", run: measure },
  { name: "spread, few at once", run: measureFew },
];
