import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Sluice } from "./index.ts";

const ATTEMPTS = 3;
/** A child that has nothing to do is ended with another signal than the job sends. */
const CHILD_MS = 30_000;

/** A process whose handler takes its own process down. Its lease would last an hour. */
function childOf(dir: string): string {
  return `
    import { Sluice } from "sluice";
    const sluice = await Sluice.open({ dir: ${JSON.stringify(dir)} });
    const mail = await sluice.queue("mail");
    mail.work(() => process.kill(process.pid, "SIGKILL"));
    setInterval(() => {}, 1000);
  `;
}

async function life(dir: string): Promise<NodeJS.Signals | null> {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", childOf(dir)], {
    cwd: import.meta.dirname,
    stdio: ["ignore", "ignore", "inherit"],
    timeout: CHILD_MS,
  });
  const [, signal] = await once(child, "exit");
  return signal as NodeJS.Signals | null;
}

test("a job that kills its process is tried at each start, and dead in the end", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-crash-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const sluice = await Sluice.open({ dir });
  const retry = { attempts: ATTEMPTS, min: 1, max: 1, jitter: 0 };
  const mail = await sluice.queue("mail", { lease: "1h", retry });
  const job = await mail.add("poison");
  await sluice.close();
  for (let crash = 0; crash < ATTEMPTS; crash++) assert.equal(await life(dir), "SIGKILL");
  await using again = await Sluice.open({ dir });
  const info = await again.job(job.id).info();
  assert.equal(info.queue, "mail.dlq");
  assert.match(info.error!, /process/);
});
