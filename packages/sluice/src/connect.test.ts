import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { start } from "@sluice/server/testing/start";
import { Sluice } from "./index.ts";

const KEY = "a root key that is long enough to be one";

async function address(t: TestContext): Promise<string> {
  return (await start(t, { keys: { rootKey: KEY } })).server.address;
}

test("a server's queues are used like one's own", async (t) => {
  await using sluice = await Sluice.connect(await address(t), { apiKey: KEY });
  const mail = await sluice.queue<{ to: string }, string>("mail", { retry: { attempts: 2 } });
  mail.work(({ payload }) => `sent to ${payload.to}`, { concurrency: 5 });
  const job = await mail.add({ to: "a@b.c" }, { fairnessKey: "acme" });
  assert.equal(await job.finished(), "sent to a@b.c");
  const answers = await mail.addBulk([{ payload: { to: "x" } }, { payload: { to: "y" } }]);
  assert.equal(answers.length, 2);
  await sluice.gate("smtp").set({ rate: 5 });
  assert.equal((await sluice.gate("smtp").info()).config?.rate, 5);
  await sluice.store("settings").put("a", { n: 1 });
  assert.deepEqual(await sluice.store("settings").get("a"), { n: 1 });
});

test("jobs of a server are consumed one by one", async (t) => {
  await using sluice = await Sluice.connect(await address(t), { apiKey: KEY });
  const mail = await sluice.queue<number>("mail");
  await mail.addBulk([1, 2, 3].map((payload) => ({ payload })));
  const seen: number[] = [];
  for await (const job of mail.consume({ prefetch: 2 })) {
    seen.push(job.payload);
    await job.ack();
    if (seen.length === 3) break;
  }
  assert.deepEqual(seen, [1, 2, 3]);
});

test("every scheme of a server's address is understood", async (t) => {
  const http = await address(t);
  for (const url of [http, `${http}/`, http.replace("http:", "ws:"), `${http}/v1/stream`]) {
    await (await Sluice.connect(url, { apiKey: KEY })).close();
  }
});

test("a wrong key, and none, are refused with UNAUTHORIZED", async (t) => {
  const url = await address(t);
  await assert.rejects(Sluice.connect(url), { code: "UNAUTHORIZED" });
  await assert.rejects(Sluice.connect(url, { apiKey: "wrong" }), { code: "UNAUTHORIZED" });
});

test("the error says whether nothing listens or the server is not Sluice", async () => {
  const other = createServer((_, response) => response.writeHead(404).end());
  other.listen(0, "127.0.0.1");
  await once(other, "listening");
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const somebodyElse = { code: "DISCONNECTED", message: /no Sluice server/ };
  await assert.rejects(Sluice.connect(url), somebodyElse);
  other.close();
  await once(other, "close");
  await assert.rejects(Sluice.connect(url), {
    code: "DISCONNECTED",
    message: /nothing listens there; start one/,
  });
});

test("unknown options are refused", async () => {
  const options = { key: "x" } as object;
  await assert.rejects(Sluice.connect("http://localhost:1", options), { code: "INVALID" });
});
