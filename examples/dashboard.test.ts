// Each example that mounts the dashboard in a server of another framework, run as a program.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { freePort } from "@sluice/server/testing/loopback";

const ANN = `Basic ${btoa("ann:secret")}`;
const GUEST = `Basic ${btoa("guest:secret")}`;

type Ask = (line: string, login?: string, body?: unknown) => Promise<Response>;

async function start(t: TestContext, example: string): Promise<Ask> {
  const port = await freePort();
  const child = spawn(process.execPath, [join(import.meta.dirname, example)], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (text) => (errors += text));
  t.after(async () => {
    const ended = once(child, "exit");
    child.kill();
    assert.equal((await ended)[0], 0, "it ends in order");
    const lines = errors.trim().split("\n");
    assert.ok(lines.length === 1 && /"status":403.*"by":"guest"/.test(errors), errors);
  });
  const [said] = await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  assert.equal(String(said), `http://127.0.0.1:${port}/ops\n`, errors);
  return (line, login, body) => {
    const [method = "GET", path = "/"] = line.split(" ");
    const headers: Record<string, string> = {};
    if (login !== undefined) headers.authorization = login;
    if (body !== undefined) headers["content-type"] = "application/json";
    return fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers,
      redirect: "manual",
      body: body === undefined ? null : JSON.stringify(body),
    });
  };
}

for (const framework of ["http", "express", "fastify", "hono"]) {
  test(`${framework}: page, files, calls and events by the role of the user`, async (t) => {
    const ask = await start(t, `dashboard-${framework}.ts`);
    assert.equal(await (await ask("GET /")).text(), "the shop");
    assert.equal((await ask("GET /ops/")).status, 401, "the login is the server's own");
    const bare = await ask("GET /ops", ANN);
    assert.deepEqual([bare.status, bare.headers.get("location")], [308, "./ops/"]);

    const page = await (await ask("GET /ops/", ANN)).text();
    const files = [...page.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, file]) => file);
    assert.ok(files.length >= 2, page);
    for (const file of files) assert.equal((await ask(`GET /ops/${file}`, ANN)).status, 200, file);

    const { user, isReadOnly } = await (await ask("GET /ops/v1/session", ANN)).json();
    assert.deepEqual({ user, isReadOnly }, { user: "ann", isReadOnly: false });
    const added = await ask("POST /ops/v1/queues/mail/jobs", ANN, { payload: { to: "a@b.c" } });
    assert.equal(added.status, 201, await added.clone().text());
    const { id } = await added.json();
    const { payload } = await (await ask(`GET /ops/v1/jobs/${id}`, ANN)).json();
    assert.deepEqual(payload, { to: "a@b.c" });

    const pulse = await ask("GET /ops/v1/pulse", ANN);
    const reader = pulse.body!.pipeThrough(new TextDecoderStream()).getReader();
    let heard = "";
    while (!heard.includes("event: pulse")) heard += (await reader.read()).value;
    await reader.cancel();

    assert.equal((await ask("GET /ops/v1/queues", GUEST)).status, 200);
    const refused = await ask("POST /ops/v1/queues/mail/jobs", GUEST, { payload: 1 });
    const { error } = await refused.json();
    assert.deepEqual([refused.status, error.code], [403, "FORBIDDEN"]);
    assert.match(error.message, /user guest has the role read-only/);
  });
}
