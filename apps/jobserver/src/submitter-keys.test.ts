// Keys of submitters, tested against a real server process.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type Answer, Spawned } from "./testing/spawn.ts";

const OPERATOR = "the-operator-has-made-this-long-key";

type Ask = (line: string, body?: unknown) => Promise<Answer>;

interface Scene {
  readonly server: Spawned;
  readonly operator: Ask;
  readonly withKey: (key: string) => Ask;
  readonly keyOf: (worker_id: string, tier?: string) => Promise<{ id: string; ask: Ask }>;
}

async function scene(t: TestContext, env: Record<string, string> = {}): Promise<Scene> {
  const server = await new Spawned(t, { API_KEY: OPERATOR, ...env }).start();
  const withKey =
    (key: string): Ask =>
    (line, body) =>
      server.call(line, body, { authorization: `Bearer ${key}` });
  const operator = withKey(OPERATOR);
  const keyOf: Scene["keyOf"] = async (worker_id, tier) => {
    const { status, body } = await operator("POST /keys", { worker_id, tier });
    assert.equal(status, 201, JSON.stringify(body));
    return { id: body.id, ask: withKey(body.key) };
  };
  return { server, operator, withKey, keyOf };
}

const ECHO = { type: "echo", arguments: 1 };

test("a key binds the submitter's name and tier: priority cannot be claimed", async (t) => {
  const { operator, keyOf } = await scene(t, { PRIORITY_WORKER_IDS: "vip" });
  const alice = await keyOf("alice");
  const vip = await keyOf("vip");
  const promoted = await keyOf("bob", "fast");
  assert.equal((await alice.ask("POST /job/add", ECHO)).body.queue, "slow");
  assert.equal((await vip.ask("POST /job/add", ECHO)).body.queue, "fast");
  assert.equal((await promoted.ask("POST /job/add", ECHO)).body.queue, "fast");
  const claimed = await alice.ask("POST /job/add", { ...ECHO, worker_id: "vip" });
  assert.equal(claimed.status, 403);
  assert.match(claimed.body.error.message, /submits jobs of alice, not of "vip"/);
  assert.equal((await alice.ask("POST /job/add", { ...ECHO, worker_id: "alice" })).status, 201);
  const asVip = await operator("POST /job/add", { ...ECHO, worker_id: "vip" });
  assert.equal(asVip.body.queue, "fast");
});

test("a key sees, lists and cancels only its own jobs; the operator's all", async (t) => {
  const { server, operator, keyOf } = await scene(t, { MAX_JOBS: "1" });
  const [alice, bob] = [await keyOf("alice"), await keyOf("bob")];
  const held = (await alice.ask("POST /job/add", { type: "hold" })).body.uid;
  const mine = (await alice.ask("POST /job/add", ECHO)).body.uid;
  const other = (await bob.ask("POST /job/add", ECHO)).body.uid;
  assert.match(mine, /^[0-9a-f]{32}$/);
  for (const line of ["GET /job/status/", "GET /job/result/", "DELETE /job/"]) {
    const { status, body } = await alice.ask(line + other);
    assert.equal(status, 404, line);
    assert.equal(body.error.message, `there is no job ${other}`);
  }
  const uids = async (ask: Ask, query = ""): Promise<string[]> => {
    const { body } = await ask(`GET /job/list${query}`);
    return body.jobs.map(({ uid }: { uid: string }) => uid);
  };
  assert.deepEqual(new Set(await uids(alice.ask)), new Set([held, mine]));
  assert.deepEqual(await uids(bob.ask), [other]);
  assert.deepEqual(new Set(await uids(operator)), new Set([held, mine, other]));
  assert.deepEqual(await uids(operator, "?worker_id=bob"), [other]);
  assert.equal((await alice.ask("GET /job/list?worker_id=bob")).status, 403);
  assert.deepEqual(await uids(alice.ask, "?status=running"), [held]);
  assert.deepEqual(await uids(alice.ask, "?status=queued"), [mine]);
  assert.equal((await alice.ask(`DELETE /job/${mine}`)).body.cancelled, true);
  assert.equal((await operator(`DELETE /job/${other}`)).body.cancelled, true);
  assert.deepEqual(await uids(alice.ask, "?status=cancelled"), [mine]);
  server.release();
});

test("jobs are listed by time, the latest first, page by page", async (t) => {
  const { server, operator } = await scene(t, { MAX_JOBS: "1" });
  await operator("POST /job/add", { type: "hold" });
  const uids: string[] = [];
  for (let i = 0; i < 5; i++) {
    uids.unshift((await operator("POST /job/add", { ...ECHO, worker_id: "a" })).body.uid);
  }
  const seen: string[] = [];
  let cursor = "";
  for (let pages = 0; pages < 3; pages++) {
    const { body } = await operator(`GET /job/list?worker_id=a&limit=2${cursor}`);
    for (const { uid, status, type } of body.jobs) {
      seen.push(uid);
      assert.deepEqual([status, type], ["queued", "echo"]);
    }
    assert.equal(body.cursor === undefined, pages === 2);
    cursor = `&cursor=${body.cursor}`;
  }
  assert.deepEqual(seen, uids);
  const { body } = await operator(`GET /job/list?since=${new Date().toISOString()}`);
  assert.deepEqual(body.jobs, []);
  const all = await operator(`GET /job/list?until=${Date.now()}&since=0`);
  assert.equal(all.body.jobs.length, 6);
  for (const query of ["?since=soon", "?status=odd", "?limit=0", "?cursor=x", "?other=1"]) {
    assert.equal((await operator(`GET /job/list${query}`)).status, 400, query);
  }
  server.release();
});

test("keys are the operator's: others neither make them nor see figures of all", async (t) => {
  const { server, operator, withKey, keyOf } = await scene(t);
  const alice = await keyOf("alice");
  const own = ["GET /keys", "POST /keys", `DELETE /keys/${alice.id}`];
  for (const line of [...own, "GET /metrics", "GET /job/queue/stats"]) {
    const body = line.startsWith("POST") ? { worker_id: "x" } : undefined;
    assert.equal((await alice.ask(line, body)).status, 403, line);
  }
  assert.equal((await operator("GET /job/queue/stats")).status, 200);
  assert.match(server.said, /curl \S+\/job\/queue\/stats -H "authorization: Bearer \$API_KEY"/);
  assert.equal((await withKey("js_000000000000_wrong")("POST /job/add", ECHO)).status, 401);
  assert.equal((await server.call("POST /job/add", ECHO)).status, 401);
  const { body } = await operator("GET /keys");
  assert.deepEqual(
    body.keys.map(({ worker_id }: { worker_id: string }) => worker_id),
    ["alice"],
  );
  assert.doesNotMatch(JSON.stringify(body), /hash|js_/);
  await server.stop();
  await server.start();
  assert.equal((await alice.ask("POST /job/add", ECHO)).status, 201, "it survives a restart");
  assert.equal((await operator(`DELETE /keys/${alice.id}`)).status, 204);
  assert.equal((await alice.ask("POST /job/add", ECHO)).status, 401, "a revoked key");
  assert.equal((await operator("POST /keys", { worker_id: "x", tier: "odd" })).status, 400);
});

test("revoking a key ends its event streams and waiting calls at once", async (t) => {
  const { server, operator, withKey } = await scene(t);
  const { id, key } = (await operator("POST /keys", { worker_id: "alice" })).body;
  const { uid } = (await withKey(key)("POST /job/add", { type: "hold" })).body;
  const authorization = `Bearer ${key}`;
  const stream = await fetch(`${server.address}/job/events`, { headers: { authorization } });
  const waiting = withKey(key)(`GET /job/result/${uid}?wait_seconds=60`);
  await operator(`DELETE /keys/${id}`);
  assert.doesNotMatch(await stream.text(), /^data:/m);
  assert.equal((await waiting).status, 401);
  const { status } = (await operator(`GET /job/status/${uid}`)).body;
  assert.match(status, /^(queued|running)$/, "its jobs stay");
  server.release();
});

test("without an API_KEY no keys are made", async (t) => {
  const server = await new Spawned(t, {}).start();
  const { status, body } = await server.call("POST /keys", { worker_id: "a" });
  assert.equal(status, 409);
  assert.match(body.error.message, /API_KEY/);
});
