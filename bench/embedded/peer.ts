// The same work by `plainjob` on better-sqlite3, a durable embedded peer, in turns with Sluice.
// plainjob itself asks SQLite for `synchronous=NORMAL`, which loses the last commits in a
// power loss; here it is held to the promise that Sluice makes under `fsync`.

import { join } from "node:path";
import Database from "better-sqlite3";
import { better, defineQueue, defineWorker } from "plainjob";
import type { Figure, Group, Scale } from "../figure.ts";
import { Scratch } from "../scratch.ts";
import { figureOf } from "../spread.ts";
import { Jobs } from "./jobs.ts";
import { BATCH_JOBS, BULKS_IN_FLIGHT, EmbeddedLoad } from "./load.ts";

const SLUICE_JOBS = 200_000;
// A job of the peer takes two syncs.
const PEER_JOBS = 5000;
const PEER_JOBS_MIN = 1000;
const TIMES_PEER_MIN = 10;
const SYNCHRONOUS = { NORMAL: 1, FULL: 2 } as const;
const TYPE = "jobs";

const nothing = (): void => {};
const SILENT = { error: console.error, warn: nothing, info: nothing, debug: nothing };

export const peerGroups: readonly Group[] = [{ name: "peer", run: measure }];

async function measure(scale: Scale): Promise<Figure[]> {
  using scratch = new Scratch();
  using peer = new Peer(join(scratch.dir, "plainjob.db"));
  const dir = scratch.fresh();
  await using sluice = await EmbeddedLoad.open({ durability: "fsync", shape: "json", dir });
  const sluiceJobs = scale.size(SLUICE_JOBS);
  const peerJobs = Math.max(PEER_JOBS_MIN, scale.size(PEER_JOBS));
  await sluice.bulk(sluiceJobs);
  await peer.run(PEER_JOBS_MIN);
  const peers: number[] = [];
  const ours: number[] = [];
  for (let run = 0; run < scale.runs; run++) {
    peers.push(await peer.run(peerJobs));
    ours.push(await sluice.bulk(sluiceJobs));
  }
  const shared = { disk: scratch.disk, payload: sluice.conditions.payload };
  const figure = (metric: string, unit: string, values: readonly number[], own: object): Figure =>
    figureOf(metric, unit, values, { ...own, ...shared });
  const added = `addBulk of ${BATCH_JOBS}, ${BULKS_IN_FLIGHT} in flight; 10 lanes, one gate`;
  const times = ours.map((speed, index) => speed / peers[index]!);
  const both = { sluice: "durability fsync", plainjob: "synchronous=FULL", sluiceJobs, peerJobs };
  return [
    figure("plainjob on better-sqlite3, synchronous=FULL", "jobs/s", peers, peer.conditions),
    figure("Sluice on the same work, fsync", "jobs/s", ours, { added, jobsPerRun: sluiceJobs }),
    {
      ...figure("Sluice against plainjob", "×", times, both),
      target: { atLeast: TIMES_PEER_MIN },
    },
  ];
}

export class Peer implements Disposable {
  readonly #queue;
  readonly #jobs = new Jobs({ lanes: 1, isGated: false, shape: "json" });
  readonly conditions;

  constructor(file: string, level: keyof typeof SYNCHRONOUS = "FULL") {
    const database = new Database(file);
    this.#queue = defineQueue({ connection: better(database), logger: SILENT });
    database.pragma(`synchronous = ${level}`);
    const synchronous = database.pragma("synchronous", { simple: true });
    if (synchronous !== SYNCHRONOUS[level]) throw new Error(`synchronous is ${synchronous}`);
    this.conditions = {
      sqlite: String(database.prepare("select sqlite_version()").pluck().get()),
      journal: String(database.pragma("journal_mode", { simple: true })),
      added: `addMany of ${BATCH_JOBS}, a transaction each; then its own worker, a job at a time`,
    };
  }

  // Jobs a second: all are added, then one worker takes them and marks them as done.
  async run(jobs: number): Promise<number> {
    const from = performance.now();
    for (let added = 0; added < jobs; added += BATCH_JOBS) {
      const payloads = Array.from({ length: BATCH_JOBS }, () => this.#jobs.payload());
      this.#queue.addMany(TYPE, payloads);
    }
    let done = 0;
    const worker = defineWorker(TYPE, ({ data }) => void JSON.parse(data), {
      queue: this.#queue,
      logger: SILENT,
      onCompleted: () => {
        if (++done === jobs) void worker.stop();
      },
    });
    await worker.start();
    return (jobs * 1000) / (performance.now() - from);
  }

  [Symbol.dispose](): void {
    this.#queue.close();
  }
}
