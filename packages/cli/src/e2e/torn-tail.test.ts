import assert from "node:assert/strict";
import { appendFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { Sluice } from "sluice";
import { command } from "../testing/sluice.ts";
import { firstLine, newDir, spawnServe, start } from "../testing/spawn-serve.ts";

const UNSHOWN = /12 bytes at the end[^\n]* cannot be shown to have been confirmed/;

/** A data directory as a killed server leaves it, with half a frame at the end of its log. */
async function tornDir(t: TestContext): Promise<string> {
  const dir = newDir();
  const server = await spawnServe(t, [], dir);
  await (await (await server.connect()).queue("mail")).add(1);
  await server.end("SIGKILL");
  const segment = readdirSync(dir).findLast((name) => name.endsWith(".log"));
  appendFileSync(join(dir, segment!), "half a frame");
  return dir;
}

const tornFiles = (dir: string): string[] =>
  readdirSync(dir).filter((name) => name.startsWith("torn-"));

test("a server that cuts the end of its log says so in its log and as an event", async (t) => {
  const dir = await tornDir(t);
  const words = ["--dir", dir, "--port", "0", "--json", "--log-level", "warn"];
  const child = start(["serve", ...words]);
  t.after(() => child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stderr! })[Symbol.asyncIterator]();
  const { address } = JSON.parse(await firstLine(child));
  const line = JSON.parse((await lines.next()).value!);
  assert.match(line.msg, UNSHOWN);
  assert.equal(line.level, "warn");
  const [kept] = tornFiles(dir);
  assert.ok(line.msg.includes(kept));
  await using sluice = await Sluice.connect(address);
  for await (const event of sluice.events({ events: ["torn"] })) {
    assert.ok(event.event === "torn" && event.bytes === 12 && event.aside === kept);
    assert.ok(!event.file.includes("/"), "an event tells no path of the server");
    break;
  }
});

test("check, repair and copy say what is cut, and only opening cuts it", async (t) => {
  const dir = await tornDir(t);
  const checked = await command(["log", "check", dir]);
  assert.match(checked.text, UNSHOWN);
  assert.match(checked.text, /no damage$/);
  const repaired = await command(["log", "repair", dir]);
  assert.match(repaired.text, UNSHOWN);
  assert.match(repaired.text, /nothing was done$/);
  assert.deepEqual(tornFiles(dir), []);
  const copied = await command(["log", "copy", dir, join(newDir(), "copy")]);
  assert.match(copied.remarks, UNSHOWN);
  assert.equal(tornFiles(dir).length, 1);
  assert.match((await command(["log", "check", dir])).text, /no damage$/);
});
