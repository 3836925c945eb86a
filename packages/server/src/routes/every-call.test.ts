/**
 * Every call of the table is made twice: by itself, and over HTTP as its row describes. Two brokers
 * in the same state must then answer the same, and be in the same state. The answer over HTTP must
 * also be one that the server's own description tells of.
 */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type LocalBroker, openBroker } from "@sluice/broker";
import { FakeClock } from "@sluice/client";
import { MemoryLog } from "@sluice/log";
import {
  CALL_NAMES,
  type CallName,
  type CallRow,
  type Outcome,
  rowOf,
  type TableCalls,
} from "@sluice/protocol";
import { serve } from "../serve.ts";
import { Api } from "../testing/api.ts";
import { type Answer, call } from "../testing/start.ts";

const payload = Buffer.from('{"n":1}');
const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 2, 1);

/** Jobs in every state, by what they are for. */
interface Scene {
  readonly flow: string;
  readonly blocked: string;
  readonly waiting: string;
  readonly ended: string;
  readonly lease: string;
}

async function setScene(broker: LocalBroker): Promise<Scene> {
  await broker.setQueue("q", { retry: { attempts: 1 } });
  await broker.setGate("g", { concurrency: 5, ladder: [1000], rate: 100 });
  await broker.cooldown("g", 1000, "busy");
  const cron = "0 3 * * *";
  await broker.setSchedule("q", "nightly", { cron, timezone: "Europe/Berlin" });
  await broker.setSchedule("q", "resting", { cron });
  await broker.pauseSchedule("q", "resting");
  await broker.storeWrite("s", [{ key: "a", value: [1] }]);
  const jobs = [{ payload }, { payload }, { payload }];
  const added = await broker.add("q", jobs);
  const [ended, dead, held] = await broker.lease("q", { max: 3, worker: "w" });
  await broker.ack([{ lease: ended!.lease, result: payload }]);
  await broker.nack([{ lease: dead!.lease, error: "boom", unrecoverable: true }]);
  const dedupe = { key: "k", mode: "pending" } as const;
  const [waiting] = await broker.add("q", [{ payload, dedupe, fairnessKey: "acme" }]);
  await broker.add("q", [{ payload, group: "open", delayMs: DAY_MS }]);
  const inGroup = [{ payload, group: "held" }];
  const [member] = await broker.add("q", inGroup, { holdGroups: true });
  const [gone] = await broker.add("q", [{ payload, group: "over" }]);
  await broker.cancel([member!.ok!.id, gone!.ok!.id]);
  const after = [{ id: waiting!.ok!.id }, { id: added[0]!.ok!.id }];
  const [blocked] = await broker.add("q", [{ payload, after }]);
  await broker.startBulk("cancel", { queues: ["none"] });
  const { flow } = await broker.openFlow("q");
  await broker.addFlow("q", [{ queue: "q", payload }], { flow });
  return {
    flow,
    blocked: blocked!.ok!.id,
    waiting: waiting!.ok!.id,
    ended: added[0]!.ok!.id,
    lease: held!.lease,
  };
}

type Args<N extends CallName> = Parameters<TableCalls[N]>;

/** The arguments of one call of each kind, all of which answer and change something. */
const ARGS: { readonly [N in CallName]: (scene: Scene) => Args<N> } = {
  add: () => [
    "q",
    [
      { payload, fairnessKey: "new" },
      { payload, weight: 0 },
    ],
  ],
  ack: ({ lease }) => [[{ lease, result: payload }, { lease: "bad" }]],
  nack: ({ lease }) => [[{ lease, error: "no", delayMs: 5 }]],
  giveBack: ({ lease }) => [[lease]],
  extend: ({ lease }) => [[{ lease, leaseMs: 90_000 }]],
  log: ({ lease }) => [[{ lease, lines: ["half way"] }]],
  logLines: ({ ended }) => [ended],
  attempts: ({ ended }) => [ended],
  progress: ({ lease }) => [[{ lease, progress: { done: 1 } }]],
  recordStep: ({ lease }) => [[{ lease, name: "charge", occurrence: 0, value: { paid: 1 } }]],
  suspend: ({ lease }) => [[{ lease, name: "", occurrence: 0, kind: "sleep", delayMs: DAY_MS }]],
  steps: ({ waiting }) => [waiting],
  signal: ({ waiting }) => [waiting, "approved", { by: "ann" }],
  chargeGate: () => ["g", 3],
  cancel: ({ waiting }) => [[waiting]],
  cancelByKey: () => ["q", ["k", "none"]],
  retry: ({ ended }) => [[ended]],
  lives: ({ ended }) => [[ended]],
  job: ({ ended }) => [ended],
  why: ({ waiting }) => [waiting],
  history: ({ ended }) => [ended],
  queuesOf: ({ waiting }) => [[waiting]],
  ended: ({ ended }) => [ended],
  jobs: () => ["q", { state: "waiting", limit: 10 }],
  addFlow: ({ waiting }) => [
    "q",
    [
      { queue: "q", payload, after: [{ job: 1 }, { id: waiting, onDependencyFailure: "run" }] },
      { queue: "q", payload },
    ],
  ],
  openFlow: () => ["q"],
  sealFlow: ({ flow }) => [flow],
  cancelFlow: ({ flow }) => [flow],
  dependencies: ({ blocked }) => [blocked, { limit: 10 }],
  dependents: ({ waiting }) => [waiting, { limit: 10 }],
  group: () => ["q/open"],
  groupEnded: () => ["q/over"],
  releaseGroups: () => [["q/held"]],
  setQueue: () => ["q", { lease: 70_000 }],
  deleteQueue: () => ["q", { deadLetters: "delete" }],
  queue: () => ["q"],
  queues: () => [{ limit: 1 }],
  purge: () => ["q"],
  redrive: () => ["q.dlq", { count: 1 }],
  lanes: () => ["q", { search: "acme", sort: "waiting" }],
  setLaneWeight: () => ["q", "acme", 7],
  workers: () => ["q"],
  setSchedule: () => ["q", "hourly", { every: "1h", payload: { n: 1 }, options: { cost: 2 } }],
  deleteSchedule: () => ["q", "nightly"],
  schedule: () => ["q", "nightly"],
  schedules: () => [{ queue: "q", search: "NIGHT", limit: 5 }],
  pauseSchedule: () => ["q", "nightly"],
  resumeSchedule: () => ["q", "resting"],
  runSchedule: () => ["q", "nightly"],
  backfillSchedule: () => ["q", "nightly", NOW_MS - 3 * DAY_MS, NOW_MS],
  setGate: () => ["g", { concurrency: 9 }],
  deleteGate: () => ["g"],
  gate: () => ["g"],
  gates: () => [{ search: "g", limit: 5 }],
  cooldown: () => ["g", 60_000, "later"],
  clearCooldown: () => ["g"],
  reportGate: () => ["g", false],
  storeGet: () => ["s", ["a"]],
  storeWrite: () => ["s", [{ key: "b", value: 2 }]],
  storeScan: () => ["s", { prefix: "a" }],
  findJobs: ({ waiting }) => [{ ids: [waiting], states: ["waiting", "dead"], limit: 5 }],
  countJobs: () => [{ queues: ["q*"], text: "n", since: NOW_MS - DAY_MS }],
  startBulk: ({ ended }) => ["retry", { ids: [ended] }, { payload: { n: 2 }, by: "anyone" }],
  bulk: () => ["b1"],
  bulks: () => [],
  stopBulk: () => ["b1"],
  failures: () => [{ queues: ["q", "q.dlq"], limit: 10 }],
  stats: () => [{ queues: ["q"], gates: ["g"], oldest: true }],
};

/** The request that a row describes. */
/** Hot calls carry milliseconds; over HTTP their durations have the names of the library. */
function heldItems(name: CallName, [items]: readonly unknown[]): object {
  const delay = ["delayMs", "delay"];
  const renamed = { nack: delay, suspend: delay, extend: ["leaseMs", "duration"] };
  const at = renamed[name as "nack"];
  if (at === undefined) return {};
  return {
    items: (items as readonly Record<string, unknown>[]).map(({ [at[0]!]: ms, ...item }) => ({
      ...item,
      [at[1]!]: ms,
    })),
  };
}

function requestOf(name: CallName, given: readonly unknown[]): { line: string; body?: unknown } {
  const { http, about, args } = rowOf(name);
  const fields = new Map(args.map((argument, i) => [argument.name, given[i]]));
  const [method, pattern] = http!.route.split(" ") as [string, string];
  const path = pattern.replace(/:(\w+)/g, (_, param: string) => {
    if (about === "group") {
      fields.clear();
      const [queue, group] = String(given[0]).split("/");
      return (param === "queue" ? queue : group)!;
    }
    const field = fields.has(param) ? param : `${param}s`;
    const value = String(fields.get(field));
    fields.delete(field);
    return encodeURIComponent(value);
  });
  const options = (given[args.length] ?? {}) as object;
  if (method === "GET" || method === "DELETE") {
    const query = new URLSearchParams(
      Object.entries(options).map(([option, value]) => [option, String(value)]),
    );
    return { line: `${method} ${path}?${query}` };
  }
  if (http!.body !== undefined) return { line: `${method} ${path}`, body: fields.get(http!.body) };
  const leases = fields.get("leases") as string[] | undefined;
  const items = leases === undefined ? {} : { items: leases.map((lease) => ({ lease })) };
  fields.delete("leases");
  const body = { ...Object.fromEntries(fields), ...items, ...options, ...heldItems(name, given) };
  return { line: `${method} ${path}`, body: JSON.parse(JSON.stringify(body, inBase64)) };
}

/** Bytes are in fields of their own. */
function inBase64(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const { payload: bytes, result, ...rest } = value as { payload?: Buffer; result?: Buffer };
  return {
    ...rest,
    ...(bytes instanceof Uint8Array ? { payloadBase64: bytes.toString("base64") } : {}),
    ...(bytes === undefined || bytes instanceof Uint8Array ? {} : { payload: bytes }),
    ...(result instanceof Uint8Array ? { resultBase64: result.toString("base64") } : {}),
  };
}

/** Holds that HTTP answers what the call did; bytes have other names there. */
function checkAnswer(row: CallRow, { status, body }: Answer, answer: unknown): void {
  const { each, http, answer: shape } = row;
  const isOne = each && /:id/.test(http!.route);
  const items = answer as readonly Outcome<unknown>[];
  if (each && !isOne) {
    const isRefused = (one: { error?: unknown }): boolean => one.error !== undefined;
    assert.equal(status, 200);
    assert.deepEqual(body.results.map(isRefused), items.map(isRefused));
  } else if (shape === undefined) {
    assert.equal(status, 204);
  } else {
    assert.equal(status, 200);
    const one = isOne ? items[0]!.ok : row.hasHoles ? items[0] : answer;
    const { field } = http!;
    const isPlain = Array.isArray(one) && !row.hasHoles;
    const wanted = field !== undefined ? { [field]: one } : isPlain ? { items: one } : one;
    const json: unknown = JSON.parse(JSON.stringify(wanted, withoutBytes));
    if (row.hasHoles && field === undefined) assert.deepEqual(body.value, json);
    else assert.partialDeepStrictEqual(body, json);
  }
}

/** Adds are measured in real time, which differs. */
const LEFT_OUT = ["payload", "result", "adds"];

function withoutBytes(key: string, value: unknown): unknown {
  return LEFT_OUT.includes(key) ? undefined : value;
}

async function stateOf(broker: LocalBroker): Promise<unknown> {
  while ((await broker.bulks()).some(({ state }) => state === "running")) {
    await new Promise(setImmediate);
  }
  const { items: queues } = await broker.queues();
  const all = queues.map(async ({ name }) => [
    await broker.jobs(name, { limit: 100 }),
    await broker.lanes(name, { sort: "weight" }),
  ]);
  const groups = ["q/open", "q/held"].map((group) => broker.group(group).catch(() => "none"));
  const rest = [broker.schedules(), broker.gates(), broker.storeScan("s"), ...groups, ...all];
  return JSON.parse(JSON.stringify([queues, await Promise.all(rest)]));
}

async function open(t: TestContext): Promise<[LocalBroker, Scene]> {
  const leaseSecret = Buffer.alloc(16, 7);
  const clock = new FakeClock({ now: NOW_MS });
  const broker = await openBroker({ log: new MemoryLog(), clock, seed: 1, leaseSecret });
  t.after(() => broker.close());
  return [broker, await setScene(broker)];
}

for (const name of CALL_NAMES) {
  test(`${name} over HTTP answers and does what the call does`, async (t) => {
    const row = rowOf(name);
    const [embedded, scene] = await open(t);
    const [served, same] = await open(t);
    assert.deepEqual(same, scene);
    const server = await serve({ broker: served, log: "silent" });
    t.after(() => server.close());
    const before = await stateOf(embedded);
    assert.deepEqual(await stateOf(served), before);

    const args: readonly unknown[] = ARGS[name](scene);
    const answer = await Reflect.apply(embedded[name], embedded, args);
    const { line, body } = requestOf(name, args);
    const headers = row.repeat === "once" ? { "idempotency-key": "op-1" } : {};
    const over = await call(server.address, line, { body, headers });
    // Under an operation id it has another name.
    if (name === "startBulk") answer.id = (over.body as { id: string }).id;
    checkAnswer(row, over, answer);
    const api = new Api((await call(server.address, "GET /openapi.json")).body);
    api.check(line, over);
    assert.deepEqual([...api.exercised], [name]);
    const after = await stateOf(served);
    assert.deepEqual(after, await stateOf(embedded));
    if (row.repeat === "read") return assert.deepEqual(after, before);
    // An open flow shows in its jobs alone, lines in `logLines`; what is over is not stopped.
    if (name === "openFlow" || name === "stopBulk" || name === "log") return;
    assert.notDeepEqual(after, before, "it changes something");

    const again = await call(server.address, line, { body, headers });
    if (row.repeat === "once")
      assert.deepEqual([again.status, again.body], [over.status, over.body]);
    assert.deepEqual(await stateOf(served), after, "made again it changes nothing more");
  });
}
