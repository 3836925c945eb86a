// Add + work + ack through one, two and three nodes, and publish + pull + ack with plain JetStream
// on the same servers, in turns.

import type { Conditions, Group, Report, Scale } from "../figure.ts";
import { figureOf } from "../spread.ts";
import { BATCH_JOBS, BULKS_IN_FLIGHT, PAYLOAD_BYTES, SINGLES_IN_FLIGHT } from "./load.ts";
import { Nodes } from "./nodes.ts";
import { type Run, Team } from "./team.ts";

const COUNTS = [1, 2, 3];
const BULK_JOBS = 120_000;
const SINGLE_JOBS = 30_000;
const ADDED = {
  bulk: `addBulk of ${BATCH_JOBS}, ${BULKS_IN_FLIGHT} in flight`,
  singles: `add, ${SINGLES_IN_FLIGHT} in flight`,
  plain: `publish with its acknowledgement, ${SINGLES_IN_FLIGHT} in flight; pull; ack`,
};

type Way = keyof typeof ADDED;

// Many runs in each way, by its title.
class Results {
  readonly #runs = new Map<string, { way: Way; jobs: number; nodes: number; runs: Run[] }>();

  note(title: string, way: Way, nodes: number, jobs: number, run: Run): void {
    const found = this.#runs.get(title);
    if (found === undefined) this.#runs.set(title, { way, jobs, nodes, runs: [run] });
    else found.runs.push(run);
  }

  report(conditions: Conditions, report: Report): void {
    for (const [title, { way, jobs, nodes, runs }] of this.#runs) {
      const told = { ...conditions, nodes, added: ADDED[way], jobsPerRun: jobs };
      const figure = (metric: string, unit: string, of: (run: Run) => number): void =>
        report(figureOf(metric, unit, runs.map(of), told));
      figure(title, "jobs/s", ({ perSecond }) => perSecond);
      const cpu = `processor time, ${title}`;
      if (nodes > 0) figure(`${cpu}, nodes`, "µs/job", ({ nodesMicros }) => nodesMicros);
      figure(`${cpu}, nats-servers`, "µs/job", ({ natsMicros }) => natsMicros);
      figure(`${cpu}, clients`, "µs/job", ({ clientsMicros }) => clientsMicros);
    }
  }
}

async function measureRound(nodes: Nodes, plain: Team, scale: Scale, results: Results) {
  const jobs = { bulk: scale.size(BULK_JOBS), singles: scale.size(SINGLE_JOBS) };
  const everywhere = nodes.queuesIn(Array.from({ length: nodes.partitions }, (_, i) => i));
  for (const count of COUNTS) {
    await nodes.resize(count);
    await using team = new Team(nodes);
    await team.producer.ask("open", nodes.urls, everywhere);
    await team.consumer.ask("open", nodes.urls, everywhere);
    const name = `${count} ${count === 1 ? "node" : "nodes"}`;
    for (const way of ["bulk", "singles"] as const) {
      // A process that was just started has compiled nothing yet.
      await team.run(jobs[way], way);
      const run = await team.run(jobs[way], way);
      results.note(`add + work + ack, ${name}, ${way}`, way, count, jobs[way], run);
    }
  }
  const run = await plain.run(jobs.singles, "singles");
  results.note("plain JetStream, publish + pull + ack", "plain", 0, jobs.singles, run);
}

export async function openPlain(nodes: Nodes): Promise<Team> {
  const team = new Team(nodes, "plain-");
  const streams = Array.from({ length: nodes.partitions }, (_, i) => `plain-${i}`);
  await team.consumer.ask("open", nodes.nats.urls, streams, nodes.nats.count);
  await team.producer.ask("open", nodes.nats.urls, streams);
  return team;
}

async function measure(scale: Scale, report: Report): Promise<void> {
  await using nodes = await Nodes.start(1);
  await using plain = await openPlain(nodes);
  await plain.run(scale.size(SINGLE_JOBS), "singles");
  const results = new Results();
  for (let run = 0; run < scale.runs; run++) await measureRound(nodes, plain, scale, results);
  results.report(
    {
      ...nodes.conditions,
      payload: `${PAYLOAD_BYTES} bytes`,
      queues: "one in each partition; as many streams of plain JetStream",
      clock: "from the first add to the last ack confirmed; of plain JetStream: arrived",
      checked: "each job that was added was delivered once",
    },
    report,
  );
}

export const lifecycleGroups: readonly Group[] = [{ name: "lifecycle", run: measure }];
