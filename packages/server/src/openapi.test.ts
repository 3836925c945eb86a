import assert from "node:assert/strict";
import { test } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { CALL_NAMES } from "@sluice/protocol";
import { Ajv } from "ajv";
import type { AppPage } from "./app-page.ts";
import type { ClusterDoor } from "./cluster-door.ts";
import { Api } from "./testing/api.ts";
import { type Answer, start } from "./testing/start.ts";
import type { OpenWebhookSender } from "./webhooks/sender.ts";

const page: AppPage = {
  name: "demo",
  title: "Demo",
  view: () => ({ sections: [], actions: [{ name: "go", title: "Go" }] }),
  act: async () => "gone",
};

test("the description is valid OpenAPI 3.1", async (t) => {
  const { call } = await start(t);
  const { body } = await call("GET /openapi.json");
  assert.equal(body.openapi, "3.1.0");
  const { valid, errors } = await new Validator().validate(body);
  assert.ok(valid, JSON.stringify(errors, null, 1));
});

// The server compiles its schemas without checking them themselves.
test("each schema of a request is a valid JSON schema", async (t) => {
  const { call } = await start(t);
  const { body } = await call("GET /openapi.json");
  const ajv = new Ajv({ strict: false, logger: false });
  const wrong: string[] = [];
  let count = 0;
  const judge = (value: unknown, place: string): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [name, inner] of Object.entries(value)) {
      const path = `${place}/${name}`;
      if (name !== "schema") judge(inner, path);
      else if (++count > 0 && ajv.validateSchema(inner) !== true) wrong.push(path);
    }
  };
  judge(body.paths, "");
  assert.deepEqual(wrong, []);
  assert.ok(count > 100, `only ${count} schemas were found`);
  assert.equal(ajv.validateSchema({ properties: { a: { type: "strnig" } } }), false);
});

const cluster: ClusterDoor = {
  secret: Promise.resolve("of the nodes alone"),
  keys: { changed: async () => {}, onChange: () => {}, isFirst: async () => true },
  accept: () => {},
  own: () => ({ brokers: [] }),
  ownBroker: () => undefined,
  storageUsed: () => 0.5,
  status: () => ({
    name: "sluice",
    self: "a",
    version: "a.1",
    isHearing: true,
    partitionCount: 1,
    storageUsed: 0.5,
    nodes: [
      {
        id: "a",
        address: "http://127.0.0.1:1",
        version: "1",
        startedAt: 0,
        isAlive: true,
        isDraining: false,
        silentFor: 3,
        owned: 1,
      },
    ],
    partitions: [
      { partition: 0, owner: "a", epoch: 3, state: "serving", lag: 0, jobs: 7, openedIn: 12 },
    ],
    placements: [{ queue: "wide", partitions: [0] }],
    moves: [{ partition: 0, from: "b", to: "a", epoch: 3, isHandedOver: true, at: 5 }],
    gained: { takeovers: 1, handovers: 2, givenUp: 0 },
  }),
  onChange: () => () => {},
  drain: async () => {},
};

type Ask = (line: string, body: unknown, status: number) => Promise<Answer["body"]>;

const RICH = {
  payload: { to: "x" },
  fairnessKey: ["acme", "u"],
  weight: 2,
  priority: 1,
  gates: ["g"],
  cost: 1,
  ttl: "1m",
  dedupe: { key: "k", mode: "pending" },
  group: "grp",
  headers: { tenant: "acme" },
  attempts: 1,
  backoff: { min: 5 },
  lease: 60_000,
};

async function askQueues(ask: Ask): Promise<void> {
  await ask("PUT /v1/queues/q", { retry: { attempts: 1, min: 0 }, weights: { vip: 3 } }, 200);
  await ask("PUT /v1/queues/q", { lease: "long" }, 400);
  await ask("GET /v1/queues?limit=1001", undefined, 400);
  await ask("GET /v1/overview?search=q&sort=attention&limit=10&tick=-1", undefined, 200);
  await ask("GET /v1/queues/q/history", undefined, 200);
  await ask("POST /v1/queues/q/pause", undefined, 204);
  await ask("POST /v1/queues/q/resume", undefined, 204);
  await ask("POST /v1/queues/none/pause", undefined, 404);
}

async function askJobs(ask: Ask): Promise<void> {
  const { id } = await ask("POST /v1/queues/q/jobs", RICH, 201);
  await ask("POST /v1/queues/q/jobs", RICH, 200);
  const jobs = [{ payload: 1 }, { payloadBase64: "AP8=" }, { payload: 1, weight: 0 }];
  const many = await ask("POST /v1/queues/q/jobs", { jobs }, 200);
  await ask("POST /v1/queues/q/jobs", { jobs, payload: 1 }, 400);
  await ask("POST /v1/queues/none/jobs", { payload: 1 }, 404);
  await ask(`GET /v1/queues/q/jobs?lane=${encodeURIComponent('["acme","u"]')}`, undefined, 200);
  await ask("GET /v1/queues/q/jobs?search=acme&worker=none", undefined, 200);
  await ask("GET /v1/queues/q/jobs?limit=0", undefined, 400);
  await ask(`GET /v1/jobs/${id}`, undefined, 200);
  assert.equal((await ask(`GET /v1/jobs/${id}/flow`, undefined, 200)).nodes.length, 1);
  assert.equal((await ask("GET /v1/groups/q/grp/end?wait=1ms", undefined, 200)).ended, false);
  assert.deepEqual(await ask(`GET /v1/jobs/${id}/end?wait=1`, undefined, 200), {
    ended: false,
    id,
  });
  await ask("GET /v1/jobs/zzz/queue", undefined, 404);
  const held = { payload: 1, group: "held", dedupe: { key: "h", mode: "pending" } };
  await ask("POST /v1/queues/q/jobs?holdGroups=true", held, 201);
  const cancelled = await ask("POST /v1/queues/q/cancel", { keys: ["h", "none"] }, 200);
  assert.deepEqual(cancelled.results, [{ cancelled: true }, { cancelled: false }]);
  assert.equal((await ask("GET /v1/groups/q/held", undefined, 200)).ended, false);
  await ask("POST /v1/groups/q/held/release", undefined, 204);
  assert.equal((await ask("GET /v1/groups/q/held/end", undefined, 200)).ended, true);
  await ask(`DELETE /v1/jobs/${many.results[0].id}`, undefined, 200);
  await ask("DELETE /v1/jobs/zzz", undefined, 404);
}

async function askWork(ask: Ask): Promise<void> {
  const leased = await ask("POST /v1/queues/q/lease", { max: 5, worker: "w" }, 200);
  assert.equal(leased.jobs.length, 2);
  assert.equal((await ask("GET /v1/workers?search=w", undefined, 200)).total, 1);
  const [first, again] = leased.jobs;
  await ask("POST /v1/progress", { items: [{ lease: first.lease, progress: { done: 1 } }] }, 200);
  await ask("GET /v1/queues/q/jobs?state=running", undefined, 200);
  await ask("POST /v1/ack", { items: [{ lease: first.lease, result: "fine" }] }, 200);
  const end = await ask(`GET /v1/jobs/${first.id}/end`, undefined, 200);
  assert.deepEqual([end.ended, end.state, end.result], [true, "finished", "fine"]);
  const nack = { lease: again.lease, error: "boom", unrecoverable: true };
  await ask("POST /v1/nack", { items: [nack, { lease: "bad" }] }, 200);
  await ask("GET /v1/queues/q.dlq/jobs", undefined, 200);
  await ask("POST /v1/queues/q.dlq/redrive", { ids: ["a1", "b2"] }, 200);
  await ask("POST /v1/queues/q/redrive", undefined, 409);
}

async function askGates(ask: Ask): Promise<void> {
  const limits = { rate: 5, burst: 10, windows: [{ limit: 9, per: 1000 }], ladder: [1000] };
  await ask("PUT /v1/gates/g", { ...limits, interval: { every: 1, from: "start" } }, 200);
  await ask("PUT /v1/gates/g*", { concurrency: 3 }, 200);
  await ask("PUT /v1/gates/g", { rate: -1 }, 400);
  await ask("GET /v1/gates/g", undefined, 200);
  await ask("GET /v1/gates", undefined, 200);
  await ask("POST /v1/gates/g/cooldown", { duration: 1000, reason: "429" }, 204);
  await ask("GET /v1/gates/g", undefined, 200);
}

async function askStores(ask: Ask): Promise<void> {
  const entries = [{ key: "a/1", value: 1 }, { key: "b", value: [2] }, { key: "c" }];
  await ask("POST /v1/stores/state", { entries }, 204);
  await ask("PUT /v1/stores/state/a%2F2", { value: { x: 1 } }, 204);
  assert.deepEqual(await ask("GET /v1/stores/state/a%2F2", undefined, 200), {
    key: "a/2",
    value: { x: 1 },
  });
  const scan = await ask("GET /v1/stores/state?prefix=a/", undefined, 200);
  assert.deepEqual(
    scan.items.map(({ key }: { key: string }) => key),
    ["a/1", "a/2"],
  );
  await ask("DELETE /v1/stores/state/b", undefined, 204);
  await ask("GET /v1/stores/state/b", undefined, 404);
  await ask("GET /v1/stores/sluice:keys", undefined, 403);
  await ask("PUT /v1/stores/sluice:keys/x", { value: 1 }, 403);
}

async function askRest(ask: Ask): Promise<void> {
  await ask("PUT /v1/config/plan", { value: { acme: "gold" } }, 204);
  assert.deepEqual((await ask("GET /v1/config/plan", undefined, 200)).value, { acme: "gold" });
  const listed = await ask("GET /v1/config?prefix=pl&limit=10", undefined, 200);
  assert.deepEqual(listed.items, [{ key: "plan", value: { acme: "gold" } }]);
  assert.deepEqual((await ask("GET /v1/config?prefix=x", undefined, 200)).items, []);
  await ask("DELETE /v1/config/plan", undefined, 204);
  await ask("GET /v1/config/plan", undefined, 404);
  const grants = [{ action: "produce", on: "orders.*" }];
  const made = await ask("POST /v1/keys", { name: "orders", grants }, 201);
  await ask("GET /v1/keys", undefined, 200);
  const wider = { grants: [{ action: "consume", on: "*", gates: ["smtp"] }], name: "wide" };
  assert.deepEqual((await ask(`PUT /v1/keys/${made.id}`, wider, 200)).grants, wider.grants);
  await ask("PUT /v1/keys/none", wider, 404);
  await ask(`DELETE /v1/keys/${made.id}`, undefined, 204);
  await askWebhooks(ask);
  await ask("GET /v1/apps", undefined, 200);
  await ask("GET /v1/apps/demo", undefined, 200);
  await ask("POST /v1/apps/demo/actions/go", { values: {} }, 200);
  await ask("GET /v1/cluster?after=a.1&wait=1", undefined, 200);
  const { placements } = await ask("GET /v1/cluster", undefined, 200);
  assert.deepEqual(placements, [{ queue: "wide", partitions: [0] }]);
  await ask("POST /v1/cluster/nodes/a/drain", undefined, 202);
  await ask("GET /v1/session", undefined, 200);
  await ask("POST /v1/session", undefined, 204);
  await ask("DELETE /v1/session", undefined, 204);
  const html: string = await ask("GET /", undefined, 200);
  await ask(`GET /${/assets\/[\w.-]+\.js/.exec(html)?.[0]}`, undefined, 200);
  await ask("GET /assets/none.js", undefined, 404);
  await ask("GET /metrics", undefined, 200);
  await ask("GET /healthz", undefined, 200);
  await ask("GET /readyz", undefined, 200);
  await ask("GET /openapi.json", undefined, 200);
}

async function askWebhooks(ask: Ask): Promise<void> {
  await ask("GET /v1/audit?limit=5&text=key", undefined, 200);
  const asked = { url: "https://example.com/", events: ["ended"], states: ["failed"] };
  const { id } = await ask("POST /v1/webhooks", asked, 201);
  await ask("POST /v1/webhooks", { url: "https://example.com/", events: ["none"] }, 400);
  await ask("GET /v1/webhooks", undefined, 200);
  await ask(`POST /v1/webhooks/${id}/test`, undefined, 200);
  await ask(`DELETE /v1/webhooks/${id}`, undefined, 204);
  await ask(`DELETE /v1/webhooks/${id}`, undefined, 404);
}

/** What delivers is in another package, and has tests of its own there. */
const webhooks: OpenWebhookSender = async () => ({
  queue: "messages",
  check: () => {},
  send: async () => "c7qa",
  close: async () => {},
});

/** It has no end of its own. */
async function readStream(address: string, path: string, key: string): Promise<Answer> {
  const stop = new AbortController();
  const { status, headers } = await fetch(`${address}${path}`, {
    headers: { authorization: `Bearer ${key}` },
    signal: stop.signal,
  });
  assert.match(headers.get("content-type") ?? "", /text\/event-stream/);
  stop.abort();
  return { status, headers, body: "" };
}

test("every operation is exercised, and answers as it is described", async (t) => {
  const { call, server } = await start(t, { keys: true, pages: [page], cluster, webhooks });
  const { key } = (await server.firstKey)!;
  const api = new Api((await call("GET /openapi.json")).body);
  const ask: Ask = async (line, body, status) => {
    const answer = await call(line, body === undefined ? { key } : { key, body });
    api.check(line, answer);
    assert.equal(answer.status, status, line);
    return answer.body;
  };
  await askQueues(ask);
  await askJobs(ask);
  await askWork(ask);
  await askGates(ask);
  await askStores(ask);
  await askRest(ask);
  for (const path of ["/v1/events", "/v1/pulse"]) {
    api.check(`GET ${path}`, await readStream(server.address, path, key));
  }
  // The calls are held against it where each of them is made: every-call.test.ts.
  const calls: readonly string[] = CALL_NAMES;
  const missed = api.operationIds.filter(
    (operation) => !api.exercised.has(operation) && !calls.includes(operation),
  );
  assert.deepEqual(missed, []);
});
