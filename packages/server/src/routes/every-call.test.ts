import assert from "node:assert/strict";
import { test } from "node:test";
import type { Broker } from "@sluice/protocol";
import { start } from "../testing/start.ts";

/** The operation of HTTP by which each call of the port is made. A call that is missing here does
 * not compile, and an operation that does not exist fails the test. */
const ROUTES: { readonly [Call in keyof Broker]: string | undefined } = {
  add: "addJobs",
  lease: "leaseJobs",
  // A long poll for jobs does what a consumer does.
  consume: "leaseJobs",
  ack: "ackJobs",
  nack: "nackJobs",
  giveBack: "giveBackJobs",
  extend: "extendLeases",
  progress: "reportProgress",
  cancel: "cancelJob",
  cancelByKey: "cancelByKey",
  retry: "retryJob",
  job: "getJob",
  why: "whyJob",
  history: "jobHistory",
  queuesOf: "getQueueOfJob",
  ended: "waitForJob",
  jobs: "listJobs",
  group: "getGroup",
  groupEnded: "waitForGroup",
  releaseGroups: "releaseGroup",
  setQueue: "setQueue",
  deleteQueue: "deleteQueue",
  queue: "getQueue",
  queues: "listQueues",
  purge: "purgeQueue",
  redrive: "redriveQueue",
  lanes: "listLanes",
  setLaneWeight: "setLaneWeight",
  workers: "listWorkers",
  setGate: "setGate",
  deleteGate: "deleteGate",
  gate: "getGate",
  gates: "listGates",
  cooldown: "coolGate",
  clearCooldown: "clearCooldown",
  reportGate: "reportGate",
  storeGet: "getStored",
  storeWrite: "writeStore",
  storeScan: "scanStore",
  events: "readEvents",
  stats: "getStats",
  // The broker belongs to the server.
  close: undefined,
};

test("every call of the port can be made over HTTP", async (t) => {
  const { call, broker } = await start(t);
  const { paths } = (await call("GET /openapi.json")).body as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  const operations = Object.values(paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId),
  );
  for (const [name, operation] of Object.entries(ROUTES)) {
    assert.equal(typeof broker[name as keyof Broker], "function", `${name} is a call of the port`);
    if (operation !== undefined) assert.ok(operations.includes(operation), `${name}: ${operation}`);
  }
});
