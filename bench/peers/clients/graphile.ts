import { setTimeout } from "node:timers/promises";
import { Logger, makeWorkerUtils, type Runner, run, type TaskList } from "graphile-worker";
import pg from "pg";
import type { Client, Consumer, Job, Place } from "../system.ts";

const BATCH_JOBS = 1000;
const BULKS_IN_FLIGHT = 2;
// What its manual measures with (worker.graphile.org/docs/performance), and for the batched one the
// local queue and the delay below.
const CONNECTIONS = 25;
const CONCURRENCY = 24;
const LOCAL_QUEUE_JOBS = 500;
const COMPLETE_DELAY_MS = 0;
const SETTLE_MS = 5;
// Enough to hold the last batch of completions.
const LAST_JOBS = 2000;
const TASK = "job";
const logger = new Logger(() => () => undefined);

export async function connect(place: Place): Promise<Client> {
  const pgPool = new pg.Pool({ connectionString: place.address, max: CONNECTIONS });
  // A connection that is lost fails the call that needs it.
  pgPool.on("error", () => undefined);
  pgPool.on("connect", (client) => client.on("error", () => undefined));
  const utils = await makeWorkerUtils({ pgPool, logger });
  await utils.migrate();
  const last: string[] = [];
  const spec = (payload: Job) => ({
    identifier: TASK,
    payload,
    maxAttempts: 1,
  });
  return {
    bulk: { jobs: BATCH_JOBS, inFlight: BULKS_IN_FLIGHT },
    takenMax: takenMaxOf(place),
    limits: false,

    async addBulk(jobs) {
      await utils.addJobs(jobs.map(spec));
    },

    async add(job) {
      const { identifier, payload, maxAttempts } = spec(job);
      await utils.addJob(identifier, payload, { maxAttempts });
    },

    async consume({ handle, stored, failed }: Consumer) {
      const taskList: TaskList = {
        [TASK]: async (payload, { job }) => {
          await handle(payload as Job);
          last.push(job.id);
          if (last.length > LAST_JOBS) last.shift();
          stored(1);
        },
      };
      // Its runner begins as soon as it is there: what can be done before is to connect.
      await Promise.all(Array.from({ length: CONNECTIONS }, () => pgPool.query("select 1")));
      let runner: Runner | undefined;
      return {
        async start() {
          const options = { pgPool, logger, noHandleSignals: true, preset: presetOf(place) };
          runner = await run({ ...options, taskList });
          runner.events.on("job:failed", ({ error }) => failed(error));
          runner.events.on("pool:fatalError", ({ error }) => failed(error));
        },
        stop: async () => runner?.stop(),
      };
    },

    // A completion is not awaited by its worker: it is stored when its row is gone.
    async settle() {
      const text = "select 1 from graphile_worker._private_jobs where id = any($1) limit 1";
      while ((await pgPool.query(text, [last])).rows.length > 0) await setTimeout(SETTLE_MS);
    },
  };
}

function takenMaxOf({ variant, concurrency = CONCURRENCY }: Place): number {
  return variant === "batched" ? concurrency + LOCAL_QUEUE_JOBS : concurrency;
}

function presetOf({ variant, concurrency }: Place): GraphileConfig.Preset {
  const concurrentJobs = concurrency ?? CONCURRENCY;
  if (variant !== "batched") return { worker: { concurrentJobs } };
  return {
    worker: {
      concurrentJobs,
      localQueue: { size: Math.max(LOCAL_QUEUE_JOBS, concurrentJobs + 1) },
      completeJobBatchDelay: COMPLETE_DELAY_MS,
      failJobBatchDelay: COMPLETE_DELAY_MS,
    },
  };
}
