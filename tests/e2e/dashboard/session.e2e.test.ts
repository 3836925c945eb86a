// Who gets in, what the browser keeps of the key, and what happens when the server goes away.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { findings, PHONE } from "./axe.ts";
import { Stage } from "./stage.ts";

const KEY = "a-root-key-that-is-long-enough-to-be-one";
const stage = await Stage.start("--root-key", KEY);
after(() => stage.close());
const { server } = stage;

async function logIn(page: Page, key: string): Promise<void> {
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Log in" }).click();
}

test("a wrong key is refused in words, a right one gets in and stays in over a reload", () =>
  stage.look("", async (page) => {
    // The pages of the apps share this login, and their key is a setting.
    await page.getByText("An API key of this server").waitFor();
    await logIn(page, "sk_wrong");
    await page.getByRole("alert").getByText(/key/).waitFor();
    await logIn(page, KEY);
    await page.getByText("live", { exact: true }).waitFor();
    await page.reload();
    await page.getByText("live", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByLabel("API key").waitFor();
    await page.reload();
    await page.getByLabel("API key").waitFor();
  }));

test("axe finds nothing on the login, in light, in dark and on a phone", async () => {
  for (const look of [{ scheme: "light" }, { scheme: "dark" }, PHONE] as const) {
    await stage.look(
      "",
      async (page) => {
        await logIn(page, "sk_wrong");
        await page.getByRole("alert").getByText(/key/).waitFor();
        assert.deepEqual(await findings(page), []);
      },
      look,
    );
  }
});

test("no script can read the key, and nothing is stored", () =>
  stage.look("", async (page) => {
    await logIn(page, KEY);
    await page.getByText("live", { exact: true }).waitFor();
    const kept = await page.evaluate(() => ({
      cookie: document.cookie,
      local: localStorage.length,
      session: sessionStorage.length,
    }));
    assert.deepEqual(kept, { cookie: "", local: 0, session: 0 });
    const cookies = await page.context().cookies();
    assert.equal(cookies.length, 1);
    const [cookie] = cookies;
    assert.deepEqual([cookie?.httpOnly, cookie?.sameSite, cookie?.expires], [true, "Strict", -1]);
    assert.ok(!page.url().includes(KEY));
  }));

test("a key that is revoked while one looks leads back to the login", async () => {
  const body = { name: "short", grants: [{ action: "admin", on: "*" }] };
  const { key, id } = (await server.call("POST /v1/keys", body, KEY)).body;
  await stage.look("", async (page) => {
    await logIn(page, key);
    await page.getByText("live", { exact: true }).waitFor();
    await server.call(`DELETE /v1/keys/${id}`, undefined, KEY);
    await page.getByLabel("API key").waitFor();
  });
});

test("a key for some queues sees those alone, and is offered what it may do", async () => {
  for (const queue of ["orders.a", "secret"]) await server.call(`PUT /v1/queues/${queue}`, {}, KEY);
  const body = { name: "reader", grants: [{ action: "consume", on: "orders.*" }] };
  const { key } = (await server.call("POST /v1/keys", body, KEY)).body;
  await stage.look("", async (page) => {
    await logIn(page, key);
    await page.getByRole("link", { name: "orders.a" }).click();
    assert.equal(await page.getByText("secret").count(), 0);
    await page.getByRole("heading", { name: "orders.a" }).waitFor();
    await page.locator(".facts").getByText("Waiting").waitFor();
    for (const name of ["Pause", "Purge", "Delete", "Add a test job"]) {
      assert.equal(await page.getByRole("button", { name }).count(), 0, name);
    }
    assert.equal(await page.getByRole("link", { name: "Keys" }).count(), 0);
  });
});

/** Which of these buttons the page of a queue offers to a key of this role. */
async function offeredTo(role: string): Promise<string[]> {
  await server.call("PUT /v1/queues/orders.a", {}, KEY);
  const { key } = (await server.call("POST /v1/keys", { role, on: "orders.*" }, KEY)).body;
  const offered: string[] = [];
  await stage.look("#/queues/orders.a", async (page) => {
    await logIn(page, key);
    await page.locator(".facts").getByText("Waiting").waitFor();
    // It is there for every role, with the buttons in it.
    await page.locator(".actions").first().waitFor({ state: "attached" });
    for (const name of ["Add a test job", "Pause", "Purge", "Delete"]) {
      const button = page.getByRole("button", { name, exact: true });
      if ((await button.count()) > 0) offered.push(name);
    }
  });
  return offered;
}

test("the page of a queue offers to each role what it may do", async () => {
  assert.deepEqual(await offeredTo("viewer"), []);
  assert.deepEqual(await offeredTo("operator"), ["Add a test job", "Pause", "Purge"]);
  assert.deepEqual(await offeredTo("admin"), ["Add a test job", "Pause", "Purge", "Delete"]);
});

test("one who may only look sees the settings and cannot change them", async () => {
  await server.call("PUT /v1/queues/orders.a", {}, KEY);
  const { key } = (await server.call("POST /v1/keys", { role: "viewer" }, KEY)).body;
  await stage.look("#/queues/orders.a/settings", async (page) => {
    await logIn(page, key);
    const lease = page.getByLabel("Lease", { exact: true }).first();
    await lease.waitFor();
    assert.ok(await lease.isDisabled());
    assert.equal(await page.getByRole("button", { name: "Save settings" }).count(), 0);
    assert.deepEqual(await findings(page), []);
  });
});

test("a key with a role is made on the page, and does what the role says", () =>
  stage.look("#/keys", async (page) => {
    await server.call("PUT /v1/queues/orders.a", {}, KEY);
    await logIn(page, KEY);
    await page.getByRole("button", { name: "Create a key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("on-call");
    await dialog.getByLabel("Role", { exact: true }).selectOption("operator");
    await dialog.getByLabel("Queues").fill("orders.*");
    await dialog.getByRole("button", { name: "Create" }).click();
    const key = (await page.locator(".notice pre").textContent()) ?? "";
    const row = page.getByRole("row").filter({ hasText: "on-call" });
    await row.getByText("operator of orders.*").waitFor();
    const { status } = await server.call("POST /v1/queues/orders.a/pause", undefined, key);
    assert.equal(status, 204);
    await server.call("POST /v1/queues/orders.a/resume", undefined, key);
    assert.equal((await server.call("DELETE /v1/queues/orders.a", undefined, key)).status, 403);
  }));

test("a key is made on the page, shown once, and revoked", () =>
  stage.look("#/keys", async (page) => {
    await logIn(page, KEY);
    await page.getByRole("button", { name: "Create a key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("reader-2");
    await dialog.getByLabel("Grants").fill("consume");
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByText(/"consume" is no grant/).waitFor();
    await dialog.getByLabel("Grants").fill("consume orders.*");
    await dialog.getByRole("button", { name: "Create" }).click();
    const key = (await page.locator(".notice pre").textContent()) ?? "";
    assert.equal((await server.call("GET /v1/session", undefined, key)).status, 200);
    const row = page.getByRole("row").filter({ hasText: "reader-2" });
    await row.getByText("consume orders.*").waitFor();
    await row.getByRole("button", { name: "Revoke" }).click();
    await dialog.getByRole("button", { name: "Revoke" }).click();
    await row.waitFor({ state: "detached" });
    assert.equal((await server.call("GET /v1/session", undefined, key)).status, 401);
  }));

test("a key that is revoked while a dialog is open leads back to the login too", async () => {
  await server.call("PUT /v1/queues/orders.a", {}, KEY);
  const body = { name: "short", grants: [{ action: "admin", on: "*" }] };
  const { key, id } = (await server.call("POST /v1/keys", body, KEY)).body;
  await stage.look("#/queues/orders.a", async (page) => {
    await logIn(page, key);
    await page.getByRole("button", { name: "Pause", exact: true }).click();
    await page.route("**/v1/pulse", () => undefined);
    await server.call(`DELETE /v1/keys/${id}`, undefined, KEY);
    await page.getByLabel("API key").waitFor();
    const { stats } = (await server.call("GET /v1/queues/orders.a", undefined, KEY)).body;
    assert.equal(stats.paused, false);
  });
});

test("answers that take long are asked for one at a time, and what was shown stays", async () => {
  await server.call("PUT /v1/queues/slow", {}, KEY);
  await stage.look("", async (page) => {
    await logIn(page, KEY);
    await page.getByRole("link", { name: "slow", exact: true }).waitFor();
    let open = 0;
    let most = 0;
    let asked = 0;
    await page.route("**/v1/overview*", async (route) => {
      most = Math.max(most, ++open);
      asked++;
      await new Promise((done) => setTimeout(done, 1_500));
      open--;
      await route.continue().catch(() => undefined);
    });
    for (let i = 0; i < 6; i++) {
      await server.call("POST /v1/queues/slow/jobs", { payload: i }, KEY);
      await page.evaluate(() => new Promise((done) => setTimeout(done, 600)));
      await page.getByRole("link", { name: "slow", exact: true }).waitFor();
    }
    assert.ok(asked >= 1 && most === 1, `${asked} asked, ${most} at once`);
    await page.unrouteAll({ behavior: "ignoreErrors" });
  });
});

test("a server that is gone is noticed, and one that is back is found without a hand", () =>
  stage.look("", async (page) => {
    await logIn(page, KEY);
    await page.getByText("live", { exact: true }).waitFor();
    await server.stop("SIGKILL");
    await page.getByText(/^Stale: no message from the server for/).waitFor();
    await page.locator(".line-mark").getByText("stale").waitFor();
    await server.start();
    await page.getByText("live", { exact: true }).waitFor();
    await page.getByText(/^Stale/).waitFor({ state: "detached" });
    await server.call("PUT /v1/queues/after-the-restart", {}, KEY);
    await page.getByRole("link", { name: "after-the-restart" }).waitFor();
  }));

test("a page that is opened while the server is away waits for it", () =>
  stage.look("", async (page) => {
    await logIn(page, KEY);
    await page.getByText("live", { exact: true }).waitFor();
    await page.route("**/v1/session", (route) => route.abort());
    await page.reload();
    await page.getByText(/Waiting for the server/).waitFor();
    await page.unroute("**/v1/session");
    await page.getByText("live", { exact: true }).waitFor();
  }));
