import assert from "node:assert/strict";
import { test } from "node:test";
import { receiver } from "@sluice/server/testing/loopback";
import { verifyWebhook } from "sluice/webhooks";
import { command } from "../testing/sluice.ts";
import { runSluice, spawnServe } from "../testing/spawn-serve.ts";

test("a webhook of the command line is called when a job is dead", async (t) => {
  const to = await receiver(t);
  const server = await spawnServe(t, ["--durability", "memory", "--webhook-hosts", to.host]);
  const env = { SLUICE_URL: server.address };
  const run = async (...words: string[]): Promise<string> => {
    const { code, text, remarks } = await command(words, { env });
    assert.equal(code, 0, remarks);
    return text;
  };
  const next = async () => {
    const { headers, body, message } = await to.next();
    verifyWebhook(headers, body, secret);
    return message;
  };
  const secret = await run("webhooks", "create", to.url, "--name", "pager");
  const [webhook] = JSON.parse(await run("webhooks", "list", "--json"));
  assert.deepEqual([webhook.name, webhook.events, webhook.queues], ["pager", ["dead"], ["*"]]);
  const tried = next();
  assert.match(await run("webhooks", "test", webhook.id), /^the message is job \S+/);
  assert.equal((await tried).type, "test");
  const dead = next();
  await run("add", "mail", "{}", "--create", "--attempts", "1");
  await runSluice(["consume", "mail", "--count", "1", "--", "false"], env);
  const { type, data } = await dead;
  assert.deepEqual([type, data.queue, data.dlq], ["dead", "mail", "mail.dlq"]);
  assert.match(await run("webhooks", "delete", webhook.id), /is deleted/);
  assert.equal(await run("webhooks", "list", "--json"), "[]");
});

test("an address that is not public is refused in a sentence", async (t) => {
  const server = await spawnServe(t, ["--durability", "memory"]);
  const env = { SLUICE_URL: server.address };
  const { code, err } = await runSluice(["webhooks", "create", "http://10.0.0.1/"], env);
  assert.equal(code, 2);
  assert.match(err, /10\.0\.0\.1, which is not a public address/);
});
