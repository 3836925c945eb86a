import assert from "node:assert/strict";
import { test } from "node:test";
import { type AppPage, FixedKeys, serveApp } from "./http.ts";
import { Sluice } from "./index.ts";

test("an app serves its queue, its page and its health with what it may import", async (t) => {
  await using sluice = await Sluice.open({ durability: "memory" });
  const mail = await sluice.queue<string, string>("mail");
  mail.work(({ payload }) => `sent ${payload}`);
  const page: AppPage = {
    name: "mailer",
    title: "Mailer",
    async view() {
      const { stats } = await mail.info();
      const facts = [{ label: "sent", value: stats.finished, tone: "good" as const }];
      return { sections: [{ kind: "facts", title: "Mail", facts }] };
    },
  };
  const app = await serveApp({
    title: "Mailer",
    log: "silent",
    pages: [page],
    routes(http) {
      http.post<{ Params: { to: string } }>("/send/:to", async ({ params }) => {
        const job = await mail.add(params.to);
        return { answer: await job.finished() };
      });
    },
  });
  t.after(() => app.close());
  const sent = await fetch(`${app.address}/send/me`, { method: "POST" });
  assert.deepEqual(await sent.json(), { answer: "sent me" });
  const answer = await fetch(`${app.address}/v1/apps/mailer`);
  const shown = (await answer.json()) as { view: { sections: { facts: object[] }[] } };
  assert.deepEqual(shown.view.sections[0]?.facts, [{ label: "sent", value: 1, tone: "good" }]);
});

test("an app that takes keys in its own way compares them as safely", () => {
  const keys = new FixedKeys(["short-but-agreed"], 8);
  assert.ok(keys.has("short-but-agreed"));
  for (const wrong of [undefined, "", "short-but-agree", "short-but-agreedx"]) {
    assert.ok(!keys.has(wrong), String(wrong));
  }
});
