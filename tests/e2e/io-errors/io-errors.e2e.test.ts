// A real process on a real disk whose system calls fail, by fiu-run. What was confirmed is there
// after a restart, nothing is confirmed after the error, and the user's process lives on.

import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Sluice } from "sluice";
import { needProgram } from "../debian.ts";

const CHILD = fileURLToPath(new URL("main.ts", import.meta.url));
const EIO = 5;
const ENOSPC = 28;
const RUNS_EACH = 4;

interface Fault {
  readonly name: string;
  // The call that fails, as libfiu names it, how often, and the error it gives.
  readonly point: string;
  readonly probability: number;
  readonly errno: number;
}

const FAULTS: readonly Fault[] = [
  { name: "EIO of a sync", point: "posix/io/sync/fdatasync", probability: 0.02, errno: EIO },
  { name: "EIO of every sync", point: "posix/io/sync/fdatasync", probability: 1, errno: EIO },
  { name: "EIO of a write", point: "posix/io/rw/pwrite", probability: 0.02, errno: EIO },
  { name: "ENOSPC of a write", point: "posix/io/rw/pwrite", probability: 0.02, errno: ENOSPC },
  { name: "ENOSPC of a new file", point: "posix/io/oc/open", probability: 1, errno: ENOSPC },
];

interface Over {
  readonly codes: readonly string[];
  readonly later: string;
  readonly closed: string;
  readonly events: readonly string[];
}

needProgram("fiu-run", "fiu-utils");

for (const fault of FAULTS) {
  test(`${fault.name}: what was confirmed stays, and nothing is confirmed after it`, async () => {
    for (let run = 0; run < RUNS_EACH; run++) await failUnder(fault);
  });
}

async function failUnder(fault: Fault): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-fiu-"));
  try {
    const dir = join(folder, "data");
    const { confirmed, over } = await live(folder, dir, fault);
    assert.deepEqual(over.codes, ["LOG_FAILED"], "the refusal is typed");
    assert.equal(over.later, "LOG_FAILED", "and it is final");
    assert.deepEqual(over.events, ["LOG_FAILED"], "the process gets it once");
    assert.equal(over.closed, "closed");
    assert.ok(confirmed.length > 0, "the disk worked before it failed");
    await mustHold(dir, confirmed);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function live(
  folder: string,
  dir: string,
  fault: Fault,
): Promise<{ confirmed: string[]; over: Over }> {
  const control = join(folder, "fiu");
  const child = spawn("fiu-run", ["-x", "-f", control, process.execPath, CHILD, dir], {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let errors = "";
  child.stderr?.on("data", (text) => {
    errors += text;
  });
  const confirmed: string[] = [];
  let over: Over | undefined;
  let late = 0;
  child.on("message", (message: { is: string; id: string; isLate: boolean } & Over) => {
    if (message.is === "added") confirmed.push(message.id);
    if (message.isLate) late++;
    // The disk fails once something is on it.
    if (message.is === "added" && confirmed.length === 50) breakDisk(control, child, fault);
    if (message.is === "over") over = message;
  });
  // Its last words may come after its end.
  const [[code]] = await Promise.all([once(child, "exit"), once(child, "disconnect")]);
  assert.equal(code, 0, `the process lives on: ${errors}`);
  assert.ok(over !== undefined, errors);
  assert.equal(late, 0, "nothing is confirmed after a refusal");
  return { confirmed, over };
}

function breakDisk(control: string, child: ChildProcess, fault: Fault): void {
  const { point, probability, errno } = fault;
  const command = `enable_random name=${point},probability=${probability},failinfo=${errno}`;
  // fiu-run is a shell that becomes the program, so that the process keeps its number.
  execFileSync("fiu-ctrl", ["-f", control, "-c", command, String(child.pid)]);
}

async function mustHold(dir: string, confirmed: readonly string[]): Promise<void> {
  await using sluice = await Sluice.open({ dir });
  for (const id of confirmed) {
    const { state } = await sluice.job(id).info();
    assert.equal(state, "waiting", id);
  }
}
