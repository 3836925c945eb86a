import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Sluice } from "sluice";
import { addAll, job, take, textOf } from "../testing/jobs.ts";
import { firstLine, newDir, spawnServe, start } from "../testing/spawn-serve.ts";

const FAILING = join(import.meta.dirname, "..", "testing", "failing-thread", "main.ts");
const WRONG = 1;

test("a server with threads ends in order when one of them fails", async (t) => {
  const dir = newDir();
  const words = ["serve", "--json", "--threads", "2", "--port", "0", "--dir", dir];
  const child = start([...words, "--log-level", "warn"], { NODE_OPTIONS: `--import=${FAILING}` });
  t.after(() => child.kill("SIGKILL"));
  let said = "";
  child.stderr!.on("data", (text) => (said += text));
  const { address } = JSON.parse(await firstLine(child));
  const sluice = await Sluice.connect(address);
  await sluice.broker.setQueue("q", {});
  const names = Array.from({ length: 50 }, (_, index) => String(index));
  await addAll(
    sluice.broker,
    "q",
    names.map((name) => job(name)),
  );
  child.kill("SIGUSR2");
  const [code] = await once(child, "exit");
  await sluice.close({ timeout: 0 });
  assert.equal(code, WRONG);
  assert.match(
    said,
    /^thread 1, which holds connections, has failed \([^\n]*\): the server stops$/m,
  );
  const [lock] = readdirSync(dir, { recursive: true }).filter((name) =>
    /lock\.\d+$/.test(`${name}`),
  );
  assert.equal(readFileSync(join(dir, String(lock)), "utf8"), "", "the log was closed");

  const second = await spawnServe(t, [], dir);
  const jobs = await take((await second.connect()).broker, "q", names.length);
  assert.deepEqual(jobs.map(textOf), names);
});
