// One embedded job, from `add` to its durable ack, watched in the way that the argument names:
// `files` that take part, or `stacks` that enter a package twice. The answer is JSON.

import { mkdtempSync, rmSync } from "node:fs";
import { registerHooks } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ranWhile } from "./ran.ts";
import { reentrantWhile } from "./stacks.ts";

// As in a program that has no OpenTelemetry, which is optional.
registerHooks({
  resolve(specifier, context, next) {
    if (specifier === "@opentelemetry/api") throw new Error("not installed");
    return next(specifier, context);
  },
});
const { Sluice } = await import("sluice");
const [mode] = process.argv.slice(2);
const dir = mkdtempSync(join(tmpdir(), "sluice-path-"));
const sluice = await Sluice.open({ dir, durability: "fsync" });
const queue = await sluice.queue<{ n: number }>("path");
const worker = queue.work(async ({ payload }) => payload.n + 1);

async function oneJob(): Promise<void> {
  const finished = new Promise<unknown>((resolve) => worker.once("finished", resolve));
  await queue.add({ n: 1 });
  await finished;
}

// What happens once in the life of a worker is no part of the path of a job.
await oneJob();
const seen = await (mode === "files" ? ranWhile(oneJob) : reentrantWhile(oneJob));
process.stdout.write(JSON.stringify(seen));
await sluice.close();
rmSync(dir, { recursive: true });
