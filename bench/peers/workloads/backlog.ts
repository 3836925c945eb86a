// A queue in which very many jobs wait all the time: as many are finished as are added. In the same
// rounds, the same work on a server of the same kind whose queue is empty.
//
// No consumer holds a job when the clock starts, and the consumer stops as soon as enough jobs are
// finished. If it finished more, as many are added again before the next turn.

import type { Group, Scale } from "../../figure.ts";
import { groupOf, type Play } from "../compete.ts";
import type { Party } from "../party.ts";
import { SYSTEMS } from "../systems.ts";
import type { Sample } from "../turns.ts";

const BACKLOG = { quick: 50_000, usual: 200_000, full: 1_000_000 } as const;
const SECONDS = { quick: 0.5, usual: 2, full: 4 } as const;
const TENANTS = 10;
// A row or a record with its indexes, and once more in a log.
const DISK_BYTES_PER_JOB = 3000;
const FIRST_JOBS = 1000;
const JOBS_MIN = 500;
// Beside a deep backlog a consumer has taken as many jobs as it may when so many are finished.
// Those cost time and count for nothing: they are to be few.
const TIMES_TAKEN = 5;

export const backlogGroup: Group = groupOf({
  name: "backlog",
  mode: "sync",
  work: {},
  isTwice: true,
  diskBytes: ({ name }) => BACKLOG[name] * DISK_BYTES_PER_JOB * SYSTEMS.length,
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
      better: "more",
    },
    {
      key: "bytesPerJob",
      row: "a deep backlog: memory of the server for a waiting job, once",
      unit: "bytes",
      better: "less",
    },
    { key: "fill", row: "a deep backlog: filling it, once", unit: "jobs/s", better: "more" },
  ],
  play: (party, scale, empty) => new Backlog(party, empty, scale),
});

class Backlog implements Play {
  readonly #deep: Party;
  readonly #empty: Party;
  readonly #scale: Scale;
  #jobs = FIRST_JOBS;
  #fill = Number.NaN;
  #bytesPerJob = Number.NaN;

  constructor(deep: Party, empty: Party, scale: Scale) {
    this.#deep = deep;
    this.#empty = empty;
    this.#scale = scale;
  }

  get #backlog(): number {
    return BACKLOG[this.#scale.name];
  }

  get conditions() {
    return {
      work: `${this.#backlog.toLocaleString("en-US")} jobs wait; memory is the growth of the proportional set of the server's processes, garbage included; "empty" is a second server of the same kind, in the same rounds`,
      backlog: this.#backlog,
      jobs: this.#jobs,
    };
  }

  // The backlog is filled once.
  async warmUp(): Promise<void> {
    this.#resize(await turn(this.#empty, this.#jobs));
    this.#resize(await turn(this.#empty, this.#jobs));
    // The other server has seen work too when its memory is looked at.
    await turn(this.#deep, this.#jobs);
    const party = this.#deep;
    const before = party.memoryBytes();
    const begun = performance.now();
    await add(party, this.#backlog);
    this.#fill = (this.#backlog * 1000) / (performance.now() - begun);
    // What lies on disk alone can grow by nothing at all.
    this.#bytesPerJob = Math.max(1, (party.memoryBytes() - before) / this.#backlog);
    await turn(party, this.#jobs);
  }

  async run(): Promise<Sample> {
    const empty = await turn(this.#empty, this.#jobs);
    const deep = await turn(this.#deep, this.#jobs);
    this.#resize(deep);
    return { deep, ofEmpty: deep / empty, bytesPerJob: this.#bytesPerJob, fill: this.#fill };
  }

  #resize(perSecond: number): void {
    const jobs = Math.round(perSecond * SECONDS[this.#scale.name]);
    this.#jobs = Math.max(JOBS_MIN, TIMES_TAKEN * this.#deep.takenMax, jobs);
  }
}

// So many are added and as many finished. Jobs a second.
async function turn(party: Party, count: number): Promise<number> {
  const first = party.take(count);
  await party.ready({ first, count, isPart: true });
  const begun = performance.now();
  const adding = party.produce("bulk", first, count, TENANTS).then(() => performance.now());
  const finishing = party
    .start()
    .then(() => party.finished())
    .then(() => performance.now());
  // Beside a backlog it may be done before all are added, and would go on at their expense.
  const stopping = finishing.then(() => party.stop());
  const [addedAt, finishedAt, finished] = await Promise.all([adding, finishing, stopping]);
  if (finished > count) await add(party, finished - count);
  return (count * 1000) / (Math.max(addedAt, finishedAt) - begun);
}

async function add(party: Party, count: number): Promise<void> {
  await party.produce("bulk", party.take(count), count, TENANTS);
}
