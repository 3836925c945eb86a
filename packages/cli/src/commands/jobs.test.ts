import assert from "node:assert/strict";
import { test } from "node:test";
import { place } from "../testing/sluice.ts";

test("a dead letter is found by its failure, and retried, by the command line alone", async (t) => {
  const { sluice, served } = await place(t);
  const broker = await served.broker;
  await broker.setQueue("mail", { retry: { attempts: 1 } });
  await sluice("add mail", '{"to":"a"}', "--fairness-key", "acme");
  const [job] = await broker.lease("mail", { max: 1 });
  await broker.nack([{ lease: job!.lease, error: "timeout after 12 ms" }]);
  const failures = await sluice("jobs failures");
  assert.match(failures.text, /timeout after # ms/);
  const failure = failures.text.split("\n")[1]!.split(" ")[0]!;
  assert.match((await sluice("jobs --state dead --lane acme")).text, new RegExp(job!.id));
  assert.match((await sluice("jobs count --queue mail*")).text, /^1 job: 1 dead$/);
  assert.match((await sluice("jobs --text nothing")).text, /^no jobs$/);
  const asked = await sluice(`jobs retry --failure ${failure}`);
  assert.match(asked.text, /^would retry 1 job: add --yes/);
  const done = await sluice(`jobs retry --failure ${failure} --yes`);
  assert.match(done.text, /retry done: 1 job$/);
  assert.equal((await broker.job(job!.id)).state, "waiting");
  const { items } = JSON.parse((await sluice("jobs bulk --json")).text);
  assert.equal(items[0].done, 1);
  assert.match((await sluice(`jobs stop ${items[0].id}`)).text, /done/);
});

test("a state that is none, or a word that is no verb, is misuse", async (t) => {
  const { sluice } = await place(t);
  assert.equal((await sluice("jobs --state sleeping")).code, 2);
  assert.equal((await sluice("jobs dance")).code, 2);
  assert.equal((await sluice("jobs retry --payload {")).code, 2);
});
