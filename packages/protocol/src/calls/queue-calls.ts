import type { FairnessKey } from "../job.ts";
import { integer } from "../kinds.ts";
import { HELD_JOBS_MAX } from "../limits.ts";
import type { QueueOptions } from "../options/queue-options.ts";
import type { LaneStats, Page, QueueInfo, WorkerInfo } from "../queue.ts";
import * as shapes from "../shapes/index.ts";
import { arg, call } from "./call.ts";
import {
  COUNT,
  FAIRNESS_KEY,
  FLAG,
  oneOf,
  PAGE,
  QUEUE,
  QUEUE_OPTIONS,
  TEXTS,
  text,
  told,
  WEIGHT,
} from "./kinds.ts";
import type {
  DeleteQueueOptions,
  LanesOptions,
  OperationOptions,
  QueueDeleted,
  QueuesOptions,
  RedriveOptions,
  WorkersOptions,
} from "./options.ts";

export const QUEUE_CALLS = {
  setQueue: call<[queue: string, options: QueueOptions], QueueInfo>({
    says: "Creates a queue, or changes one in place: its jobs stay.",
    about: "queue",
    args: [QUEUE, arg("options", QUEUE_OPTIONS)],
    may: "admin",
    repeat: "again",
    answer: shapes.QUEUE,
    http: { route: "PUT /v1/queues/:queue", body: "options" },
  }),
  deleteQueue: call<[queue: string], QueueDeleted, DeleteQueueOptions>({
    says: "Deletes a queue with all its jobs. Its dead letters in other queues are kept or deleted.",
    about: "queue",
    args: [QUEUE],
    options: {
      deadLetters: told(
        oneOf(["keep", "delete"]),
        "Its dead letters in other queues; default keep.",
      ),
    },
    may: "admin",
    repeat: "once",
    answer: shapes.DELETED,
    http: "DELETE /v1/queues/:queue",
  }),
  queue: call<[queue: string], QueueInfo>({
    says: "Inspects a queue: its configuration and its counts.",
    about: "queue",
    args: [QUEUE],
    may: "any",
    repeat: "read",
    answer: shapes.QUEUE,
    http: "GET /v1/queues/:queue",
  }),
  queues: call<[], Page<QueueInfo>, QueuesOptions>({
    says: "Lists queues by name, by page.",
    about: "broker",
    args: [],
    options: {
      ...PAGE,
      partial: told(FLAG, "In a cluster: answers without the partitions that are away."),
    },
    may: "key",
    repeat: "read",
    answer: shapes.page(shapes.QUEUE),
    http: { route: "GET /v1/queues", isOwn: true },
  }),
  purge: call<[queue: string], void, OperationOptions>({
    says: "Removes the jobs of a queue that wait or are delayed; leases are left alone.",
    about: "queue",
    args: [QUEUE],
    may: "operate",
    repeat: "once",
    http: "POST /v1/queues/:queue/purge",
  }),
  redrive: call<[queue: string], number, RedriveOptions>({
    says: "Returns dead letters to the queues they came from, oldest first or by id.",
    about: "queue",
    args: [QUEUE],
    options: {
      count: told(COUNT, "At most so many; default all."),
      ids: told(TEXTS, "Only these, and no count; ids of other jobs are skipped."),
    },
    may: "operate",
    repeat: "once",
    answer: shapes.COUNT,
    http: { route: "POST /v1/queues/:queue/redrive", field: "redriven" },
  }),
  lanes: call<[queue: string], Page<LaneStats>, LanesOptions>({
    says: "Lists lanes with the share they are owed and the share they received, by page.",
    about: "queue",
    args: [QUEUE],
    options: {
      ...PAGE,
      search: told(text(1024), "Part of the key; a path is its levels joined with slashes."),
      sort: told(
        oneOf(["waiting", "running", "received", "weight"]),
        "The largest first; absent: in no order, which is cheaper.",
      ),
    },
    may: "any",
    repeat: "read",
    answer: shapes.page(shapes.LANE),
    http: "GET /v1/queues/:queue/lanes",
  }),
  setLaneWeight: call<[queue: string, key: FairnessKey, weight: number], void>({
    says: "Changes the weight of a lane.",
    about: "queue",
    args: [QUEUE, arg("key", FAIRNESS_KEY), arg("weight", WEIGHT)],
    may: "admin",
    repeat: "again",
    http: "PUT /v1/queues/:queue/lanes/:key",
  }),
  workers: call<[queue: string], readonly WorkerInfo[], WorkersOptions>({
    says: "Lists the workers of a queue, how many jobs each holds, and which ones since when.",
    about: "queue",
    args: [QUEUE],
    options: {
      jobs: told(
        integer(0, HELD_JOBS_MAX),
        "Jobs listed for each worker, those first that it has held longest; default none.",
      ),
    },
    may: "any",
    repeat: "read",
    ids: "workers",
    answer: shapes.list(shapes.WORKER),
    http: "GET /v1/queues/:queue/workers",
  }),
};
