// A few faults of each kind on one real cluster, in network namespaces of its own: what clients
// were answered must fit together, and the stores of the NATS servers must be alike byte by byte.
// `npm run soak -- cluster` injects all of them, many times, and judges how long they take.

import assert from "node:assert/strict";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { NATS_OLDEST } from "@sluice/log/nats";
import { NATS_VERSION } from "@sluice/log/testing";
import type { Verdict } from "../testing/faults/run-faults.ts";
import { canSandbox, spawnInSandbox } from "../testing/faults/sandbox.ts";

const MAIN = join(import.meta.dirname, "..", "testing", "faults", "main.ts");
// The reproductions of V1 to V4: a NATS server cut from its peers and nodes that are restarted
// after it, full disks, a node without NATS, and an owner that clients do not reach.
const FAULTS = [
  "node cut from NATS",
  "owner unreachable for clients",
  "NATS server cut from its peers",
  "nodes restarted one by one",
  "disk full on all NATS servers",
];
const SHARE = "0.6";
const CONFIRMED_MIN = 1_000;

// The oldest and the newest that are supported; one as long as they are the same.
for (const version of new Set([NATS_OLDEST, NATS_VERSION])) {
  const skip = canSandbox() ? false : "this system does not let a process make namespaces";
  test(`nothing is lost, doubled or divided on nats-server ${version}`, { skip }, async (t) => {
    const faults = FAULTS.flatMap((name) => ["--fault", name]);
    const child = spawnInSandbox(MAIN, ["--nats", version, "--share", SHARE, ...faults]);
    t.after(() => child.kill("SIGKILL"));
    const ended = once(child, "exit");
    let verdict: Verdict | undefined;
    for await (const line of createInterface({ input: child.stdout! })) {
      const told = JSON.parse(line);
      if (told.failed !== undefined) assert.fail(told.failed);
      if (told.verdict === undefined) t.diagnostic(line);
      else verdict = told.verdict;
    }
    await ended;
    assert.ok(verdict !== undefined, "it ended without a verdict");
    const { confirmed, violations, messages, differences } = verdict;
    t.diagnostic(`${confirmed} confirmed, ${messages} messages compared`);
    assert.deepEqual(violations, []);
    assert.equal(differences, 0);
    assert.ok(confirmed >= CONFIRMED_MIN && messages >= CONFIRMED_MIN, `${confirmed} confirmed`);
  });
}
