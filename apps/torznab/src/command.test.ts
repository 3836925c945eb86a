import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { openFolder } from "./testing/folder.ts";
import { sampleItems } from "./testing/indexer-server.ts";
import { ask, openIndexer } from "./testing/start.ts";

function run(t: TestContext, args: readonly string[], environment: object = {}): ChildProcess {
  const child = spawn(process.execPath, [join(import.meta.dirname, "main.ts"), ...args], {
    env: { ...process.env, ...environment },
  });
  t.after(() => child.kill("SIGKILL"));
  return child;
}

async function lineOf(child: ChildProcess, pattern: RegExp): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) {
    const [, found] = pattern.exec(line) ?? [];
    if (found !== undefined) return found;
  }
  throw new Error("it ended without a word");
}

test("it starts without any configuration, and says how to add the first indexer", async (t) => {
  const { dir } = await openFolder(t);
  const server = await openIndexer(t, { items: sampleItems("a", 1) });
  const child = run(t, ["--dir", join(dir, "data"), "--listen", "0"]);
  const told: string[] = [];
  child.stdout!.on("data", (text) => told.push(String(text)));
  const address = await lineOf(child, /service on (\S+),/);
  const added = await ask(address, "POST /indexers", { url: server.url });
  assert.equal(added.body.test.ok, true, JSON.stringify(added.body));
  assert.equal((await ask(address, "GET /readyz")).status, 200);
  assert.match(told.join(""), /There is no indexer yet/);
  assert.match(told.join(""), /# Jackett\n.*# Prowlarr/);
  child.kill("SIGTERM");
  const [code] = await once(child, "exit");
  assert.equal(code, 0);
});

test("it ends with the reason when its log takes nothing more", async (t) => {
  const { dir } = await openFolder(t);
  const child = run(t, ["--dir", join(dir, "data"), "--listen", "0"]);
  let said = "";
  child.stderr!.on("data", (text) => {
    said += text;
  });
  const address = await lineOf(child, /service on (\S+),/);
  await rename(join(dir, "data"), join(dir, "moved"));
  const added = await ask(address, "POST /indexers?test=false", { url: "http://127.0.0.1:1/api" });
  assert.ok(added.status >= 500, `${added.status}`);
  const [code] = await once(child, "close");
  assert.equal(code, 1);
  assert.match(said, /sluice torznab: .*moved, replaced or deleted.*: the service stops/);
});

test("a file with indexers, whose keys stand in the environment", async (t) => {
  const { dir } = await openFolder(t);
  const server = await openIndexer(t, { apiKey: "the-key", items: sampleItems("a", 1) });
  const config = join(dir, "torznab.yaml");
  const yaml = `indexers:\n  - id: a\n    url: ${server.url}\n    interval: 0s\n`;
  await writeFile(config, `dir: ${join(dir, "data")}\nlisten: 127.0.0.1:0\n${yaml}`);
  const child = run(t, ["--config", config], { TORZNAB_INDEXER_A_API_KEY: "the-key" });
  const address = await lineOf(child, /service on (\S+),/);
  const { status, body } = await ask(address, "GET /api?t=search&q=release");
  assert.equal(status, 200, body);
  assert.match(body, /<item>/);
  const patched = await ask(address, "PATCH /indexers/a", { name: "x" });
  assert.equal(patched.status, 409);
  child.kill("SIGTERM");
  await once(child, "exit");
});

test("reports what is wrong with the start in one line, without a key", async (t) => {
  const { dir } = await openFolder(t);
  const config = join(dir, "torznab.yaml");
  const keyFile = join(dir, "short.key");
  await writeFile(keyFile, "short");
  for (const [yaml, line] of [
    ["indexers:\n  - url: 'ftp://x/?apikey=s3cret'\n", /indexers\[0\]\.url must be an http or/],
    ["indexers:\n  - {url: 'http://x/', apiKey: !odd 's3cret'}\nworkers: 0\n", /workers must be/],
    ["indexers:\n  - {apiKey: 's3cret'\n", /torznab\.yaml, line 4: not YAML/],
    [`a: &a s3cret\nb: [${"*a, ".repeat(200)}]\n`, /torznab\.yaml: not YAML \(too many aliases/],
    [`keyFile: ${keyFile}\nlisten: 0\n`, /short\.key must hold 32 bytes, it holds 5/],
  ] as const) {
    await writeFile(config, `dir: ${join(dir, "data")}\n${yaml}`);
    const wrong = run(t, ["--config", config]);
    const said: string[] = [];
    wrong.stderr!.on("data", (text) => said.push(String(text)));
    const [code] = await once(wrong, "close");
    assert.equal(code, 2, said.join(""));
    assert.match(said.join(""), line);
    assert.match(said.join(""), /^sluice torznab: .*\n$/);
    assert.doesNotMatch(said.join(""), /s3cret/);
  }
});
