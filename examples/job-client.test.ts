// The client of the job server that users copy, against a job server.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createJobServer, readConfig } from "@sluice/jobserver";
import { JobClient, type JobEvent } from "./clients/job-client.ts";

test("a client of the job server has results, errors and events", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-job-client-"));
  const running = await createJobServer({
    config: readConfig({ DATA_DIR: dir, LISTEN_ADDRESS: "127.0.0.1:0", LOG_LEVEL: "silent" }),
    handlers: {
      double: (args) => 2 * (args as { n: number }).n,
      fail: () => {
        throw new Error("no such picture");
      },
    },
  });
  const client = new JobClient(running.address);
  const leave = new AbortController();
  t.after(async () => {
    leave.abort();
    await running.close();
    rmSync(dir, { recursive: true });
  });
  const events = client.events(leave.signal);
  let isOpen = false;
  const first = events.next().then((event) => {
    isOpen = true;
    return event;
  });
  // The stream tells of what happens after it was opened.
  while (!isOpen) await client.result(await client.submit("echo", 1));
  const once = { workerId: "me", idempotencyKey: "a" };
  const uid = await client.submit("double", { n: 21 }, once);
  assert.equal(await client.result(uid), 42);
  assert.equal(await client.submit("double", { n: 21 }, once), uid, "the same job");
  const failed = await client.submit("fail", {});
  const error = { code: "failed", message: "failed: Error: no such picture" };
  await assert.rejects(client.result(failed), error);
  await assert.rejects(client.submit("nothing", {}), { code: "INVALID" });
  const seen: JobEvent[] = [(await first).value];
  for await (const event of events) {
    seen.push(event);
    if (event.status === "failed") break;
  }
  const ends = seen.filter(
    ({ type, status }) => type !== "echo" && /succeeded|failed/.test(status),
  );
  assert.deepEqual(
    ends.map(({ uid }) => uid),
    [uid, failed],
  );
  const waiting = await client.submit("sleep", { ms: 600_000 });
  assert.equal(await client.cancel(waiting), true);
});
