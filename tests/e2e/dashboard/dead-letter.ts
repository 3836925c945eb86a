// A dead letter, from the webhook to the retried job finished, on the page alone: the second half
// of docs/guides/dead-letter.md. The test follows it, and `npm run shots` takes its pictures.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { Page } from "playwright-core";
import { verifyWebhook } from "sluice/webhooks";
import type { DashboardServer } from "./server.ts";
import { act, said } from "./stage.ts";

export type Picture = (name: string) => Promise<void>;

export async function pager(): Promise<{ server: Server; host: string }> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, host: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

// The next message of the webhook, when it is signed with this secret.
async function message(server: Server, secret: string) {
  const [request, response] = await once(server, "request");
  const body = await text(request);
  verifyWebhook(request.headers, body, secret);
  response.end();
  return JSON.parse(body);
}

export async function followDeadLetter(
  page: Page,
  server: DashboardServer,
  pagerServer: Server,
  picture: Picture,
): Promise<void> {
  const host = `127.0.0.1:${(pagerServer.address() as AddressInfo).port}`;
  await page.goto(`${server.address}/#/webhooks`);
  await act(page, "Create a webhook", "Create", {
    Address: `http://${host}/`,
    Name: "pager",
    Queues: "orders",
  });
  await said(page, /Webhook pager was created/);
  const secret = (await page.getByText(/^whsec_/).textContent())!;
  await picture("dead-letter-webhook");
  const tested = message(pagerServer, secret);
  const row = page.getByRole("row").filter({ hasText: "pager" });
  await row.getByRole("button", { name: "Test" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Send" }).click();
  assert.equal((await tested).type, "test");

  const dead = message(pagerServer, secret);
  await server.call("PUT /v1/queues/orders", {});
  const order = { payload: { order: 17, card: "" }, attempts: 1 };
  await server.call("POST /v1/queues/orders/jobs", order);
  const [job] = (await server.call("POST /v1/queues/orders/lease", { max: 1 })).body.jobs;
  const error = "order 17 has no card";
  const stack = `Error: ${error}\n    at charge (/srv/orders/charge.ts:21:11)`;
  await server.call("POST /v1/nack", { items: [{ lease: job.lease, error, stack }] });
  const { type, data } = await dead;
  assert.deepEqual([type, data.id, data.error], ["dead", job.id, error]);

  await page.getByRole("link", { name: "Failures" }).click();
  await page.getByText("order # has no card").first().waitFor();
  await picture("dead-letter-failure");
  await page.goto(`${server.address}/#/jobs/${data.id}`);
  await page.locator(".pill").getByText("dead", { exact: true }).waitFor();
  await page.getByText("at charge").first().waitFor();
  await page.getByRole("button", { name: "Edit and retry" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Payload").fill('{"order":17,"card":"4242"}');
  await picture("dead-letter-retry");
  await dialog.getByRole("button", { name: "Retry", exact: true }).click();
  await said(page, /runs again with the new payload/);
  await page.locator(".pill").getByText("waiting", { exact: true }).waitFor();

  const [again] = (await server.call("POST /v1/queues/orders/lease", { max: 1 })).body.jobs;
  assert.deepEqual(again.payload, { order: 17, card: "4242" });
  await page.locator(".pill").getByText("running", { exact: true }).waitFor();
  await server.call("POST /v1/ack", { items: [{ lease: again.lease, result: { paid: true } }] });
  await page.locator(".pill").getByText("finished", { exact: true }).waitFor();
  await page.getByText('"paid": true').waitFor();
  await picture("dead-letter-finished");
}
