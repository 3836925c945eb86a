import assert from "node:assert/strict";
import { test } from "node:test";
import { openBroker } from "@sluice/broker";
import { MemoryLog } from "@sluice/log";
import { SluiceError } from "@sluice/protocol";
import { serve } from "../serve.ts";
import { call, start } from "../testing/start.ts";
import { toAnswer } from "./errors.ts";

/** A log that fails as one on a disk does. */
class FullLog extends MemoryLog {
  isFull = false;

  override async append(facts: Uint8Array): Promise<number> {
    if (!this.isFull) return super.append(facts);
    const details = { path: "/secret/place", code: "ENOSPC" };
    throw new SluiceError("LOG_FAILED", "writing failed in /secret/place: ENOSPC", details);
  }
}

test("callers of a server whose log has failed do not learn where it is", async (t) => {
  const log = new FullLog();
  const broker = await openBroker({ log });
  const server = await serve({ broker, log: "silent" });
  t.after(async () => {
    await server.close();
    await broker.close().catch(() => {});
  });
  await broker.setQueue("q", {});
  log.isFull = true;
  for (let i = 0; i < 2; i++) {
    const answer = await call(server.address, "POST /v1/queues/q/jobs", { body: { payload: 1 } });
    assert.deepEqual([answer.status, answer.body.error.code], [503, "LOG_FAILED"]);
    assert.ok(!JSON.stringify(answer.body).includes("secret"), JSON.stringify(answer.body));
  }
});

test("no error of the log tells its path", () => {
  for (const code of ["LOG_FAILED", "LOG_DAMAGED", "LOG_VERSION", "LOG_LOCKED"] as const) {
    for (const details of [{ path: "/secret" }, { file: "/secret", offset: 7 }]) {
      const told = toAnswer(new SluiceError(code, "/secret is broken", details));
      assert.equal(told.code, code);
      assert.ok(!JSON.stringify(told.toJSON()).includes("secret"));
    }
  }
});

test("a refusal has the value itself, and names the known fields", async (t) => {
  const { call } = await start(t, { queues: ["q"] });
  const refused = async (route: string, body: object) => (await call(route, { body })).body.error;
  const max = await refused("POST /v1/queues/q/lease", { max: "5" });
  assert.deepEqual(max.details, { field: "body.max", value: "5" });
  const wait = await refused("POST /v1/queues/q/lease", { wait: "5x" });
  assert.match(wait.message, /wait must be milliseconds or a string such as .*, got "5x"$/);
  const poll = (await call("GET /v1/jobs/a1/end?wait=soon")).body.error;
  assert.match(poll.message, /^wait must be milliseconds or a string such as .*, got "soon"$/);
  const misspelt = await refused("PUT /v1/queues/q/lanes/acme", { weigth: 2 });
  assert.equal(
    misspelt.message,
    "body.weigth is not a known field (did you mean weight?); known are weight",
  );
  assert.deepEqual(misspelt.details, { field: "body.weigth", value: 2 });
  const none = await refused("POST /v1/queues/q/pause", { foo: 1 });
  assert.equal(none.message, "body.foo is not a known field; there are none here");
  const missing = await refused("PUT /v1/queues/q/lanes/acme", {});
  assert.equal(missing.message, "body.weight is missing");
  const heavy = await refused("PUT /v1/queues/q/lanes/acme", { weight: 1_000_001 });
  assert.deepEqual(heavy.details, { field: "body.weight", value: 1_000_001 });
});
