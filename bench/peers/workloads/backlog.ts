// A queue in which very many jobs wait all the time: as many are finished as are added. Against the
// same work on the same server when it was empty.

import type { Group, Scale } from "../../figure.ts";
import { groupOf, type Play } from "../compete.ts";
import type { Party } from "../party.ts";
import type { Sample } from "../turns.ts";

const BACKLOG = { quick: 50_000, usual: 200_000, full: 1_000_000 } as const;
const SECONDS = { quick: 0.7, usual: 2, full: 4 } as const;
const TENANTS = 10;
const FIRST_JOBS = 1000;
const JOBS_MIN = 500;
// More than all that is ever added here.
const IDS_MAX = 20_000_000;

export const backlogGroup: Group = groupOf({
  name: "backlog",
  mode: "sync",
  work: {},
  metrics: [
    {
      key: "deep",
      row: "produce and drain at once beside a deep backlog",
      unit: "jobs/s",
      better: "more",
    },
    {
      key: "ofEmpty",
      row: "a deep backlog: speed against an empty queue",
      unit: "of its own",
      better: "neither",
    },
    {
      key: "bytesPerJob",
      row: "a deep backlog: memory of the server for a waiting job",
      unit: "bytes",
      better: "less",
    },
    // Once, and not in turns: told and not compared.
    { key: "fill", row: "a deep backlog: filling it", unit: "jobs/s", better: "neither" },
  ],
  play: (party, scale) => new Backlog(party, scale),
});

class Backlog implements Play {
  readonly #party: Party;
  readonly #scale: Scale;
  #jobs = FIRST_JOBS;
  #empty = Number.NaN;
  #fill = Number.NaN;
  #bytesPerJob = Number.NaN;

  constructor(party: Party, scale: Scale) {
    this.#party = party;
    this.#scale = scale;
  }

  get #backlog(): number {
    return BACKLOG[this.#scale.name];
  }

  get conditions() {
    return {
      backlog: this.#backlog,
      jobs: this.#jobs,
      memory: "growth of the proportional set of the server's processes, garbage included",
      empty: "the same server before it was filled, median",
    };
  }

  // The empty queue is measured here, and then filled once.
  async warmUp(): Promise<void> {
    const party = this.#party;
    await party.begin({ first: 0, count: IDS_MAX, isHeld: true });
    const seconds = SECONDS[this.#scale.name];
    this.#jobs = Math.max(JOBS_MIN, Math.round((await this.#turn()) * seconds));
    await this.#turn();
    const speeds: number[] = [];
    for (let run = 0; run < this.#scale.runs; run++) speeds.push(await this.#turn());
    this.#empty = speeds.toSorted((a, b) => a - b)[speeds.length >> 1]!;
    const before = party.memoryBytes();
    const first = party.take(this.#backlog);
    const begun = performance.now();
    await party.produce("bulk", first, this.#backlog, TENANTS);
    this.#fill = (this.#backlog * 1000) / (performance.now() - begun);
    // What lies on disk alone can grow by nothing at all.
    this.#bytesPerJob = Math.max(1, (party.memoryBytes() - before) / this.#backlog);
  }

  async run(): Promise<Sample> {
    const deep = await this.#turn();
    return {
      deep,
      ofEmpty: deep / this.#empty,
      bytesPerJob: this.#bytesPerJob,
      fill: this.#fill,
    };
  }

  async #turn(): Promise<number> {
    const party = this.#party;
    const first = party.take(this.#jobs);
    await party.permit(this.#jobs);
    const begun = performance.now();
    const added = party.produce("bulk", first, this.#jobs, TENANTS);
    await Promise.all([added, party.finished()]);
    return (this.#jobs * 1000) / (performance.now() - begun);
  }
}
