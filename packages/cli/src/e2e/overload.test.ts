import assert from "node:assert/strict";
import { test } from "node:test";
import { call } from "@sluice/server/testing/start";
import { spawnServe } from "../testing/spawn-serve.ts";

// Far less than a busy machine can be offered.
const RATE = 60;
const SECONDS = 2;
const CALLERS = 10;

test("a server that is offered too much keeps its pace, and says when to return", async (t) => {
  const server = await spawnServe(t, ["--durability", "os", "--adds-per-second", String(RATE)]);
  await (await server.connect()).broker.setQueue("q", {});
  const until = performance.now() + SECONDS * 1000;
  let [taken, refused] = [0, 0];
  const caller = async (): Promise<void> => {
    while (performance.now() < until) {
      const answer = await call(server.address, "POST /v1/queues/q/jobs", { body: { payload: 1 } });
      if (answer.status === 201) taken++;
      else {
        refused++;
        assert.equal(answer.status, 429);
        assert.equal(answer.body.error.code, "RATE_LIMITED");
        assert.ok(Number(answer.headers.get("retry-after")) >= 1);
      }
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  assert.ok(taken >= 0.8 * RATE * SECONDS, `${taken} were taken, ${refused} refused`);
  assert.ok(taken <= 1.1 * RATE * SECONDS + RATE / 10, `${taken} were taken`);
  assert.ok(refused > 0, "it was offered too much");
});
