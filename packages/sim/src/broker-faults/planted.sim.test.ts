// Bugs in a copy of the broker, or of the engine below it, that the worlds must find.

import { findPlanted, type PlantedBug } from "../plant.ts";
import { PLANTED_IN_ENGINE } from "../worlds/planted-engine.ts";
import type { BrokerModule } from "./life.ts";
import { runBrokerWorld } from "./world.ts";

const SEEDS_MAX = 100;

interface BrokerBug extends PlantedBug {
  // It shows in a world that lasts so long.
  readonly hours?: number;
}

const PLANTED: Readonly<Record<string, BrokerBug>> = {
  "calls are answered before they are durable": {
    file: "journal.ts",
    within: "  durable(): Promise<void> {",
    find: "const commit = this.#gathering;",
    put: "if (this.#inFlight > 0) return DONE; const commit = this.#gathering;",
    seed: 18,
  },
  "jobs are delivered before their leases are durable": {
    file: "journal.ts",
    find: "this.#gathering.done.push(callback);",
    put: "queueMicrotask(() => callback(0));",
    seed: 16,
  },
  "a restart keeps the leases of workers that ended with the process": {
    file: "runtime.ts",
    find: "engine.endReplay(this.now());",
    put: "engine.endReplay();",
    seed: 2,
  },
  "the log is trimmed before the checkpoint is durable": {
    file: "cleaner.ts",
    find: "await this.#checkpoint();",
    put: "void this.#checkpoint();",
    seed: 73,
  },
  "the cleaner forgets to move a job": {
    file: "cleaner.ts",
    find: 'this.#write({ at: now(), fact: "moved", job });',
    put: 'if (job.id % 7 !== 0) this.#write({ at: now(), fact: "moved", job });',
    seed: 2,
  },
  "the checkpoint leaves out the stores": {
    file: "cleaner.ts",
    find: "for (const fact of step)",
    put: 'for (const fact of step.filter(({ fact }) => fact !== "stored"))',
    seed: 2,
  },
  "a recovery drops the last batch": {
    file: "recovery.ts",
    find: "for await (const batch of this.#log.replay({ reuse: true }))",
    put: `const all: Batch[] = [];
    for await (const batch of this.#log.replay()) all.push(batch);
    for (const batch of all.slice(0, -1))`,
    seed: 1,
  },
  "a body is read from the wrong place of its batch": {
    file: "chunks.ts",
    find: "const part = partAt(chunk.parts, offset);",
    put: "const part = partAt(chunk.parts, Math.max(0, offset - 200));",
    seed: 1,
  },
  "a body is read from a window of another batch": {
    file: "paged-bodies.ts",
    find: "window?.position !== position ||",
    put: "window === undefined ||",
    seed: 3,
  },
  "time goes back to the clock after a restart": {
    file: "runtime.ts",
    find: "Math.max(0, now - lastAt)",
    put: "now - lastAt",
    seed: 5,
  },
  "calls are answered when the log fails": {
    file: "journal.ts",
    find: "commit.reject(this.#failure!);",
    put: "commit.resolve();",
    seed: 91,
  },
  "no caller learns that the log has failed": {
    file: "runtime.ts",
    within: "#failed(error: SluiceError, whole",
    find: "this.feed.tell(",
    put: "void (",
    seed: 3,
  },
  // In the engine below it: what the follower of its facts sees, and what a restart shows.
  "a restart refills the bucket": {
    in: "@sluice/engine",
    file: "gates/gate-state.ts",
    find: "this.bucket?.load(save.bucket, now)",
    put: "void 0",
    hours: 1,
    seed: 2,
  },
  "a release does not look at its gate": {
    in: "@sluice/engine",
    ...PLANTED_IN_ENGINE["a release does not look at its gate"]!,
    hours: 1,
    seed: 1,
  },
  "some lanes are not charged": {
    in: "@sluice/engine",
    ...PLANTED_IN_ENGINE["some lanes are not charged"]!,
    hours: 1,
    seed: 1,
  },
  "a retried job goes to the front": {
    in: "@sluice/engine",
    ...PLANTED_IN_ENGINE["a retried job goes to the front"]!,
    hours: 1,
    seed: 67,
  },
};

findPlanted<BrokerModule, BrokerBug>(
  PLANTED,
  SEEDS_MAX,
  { name: "@sluice/broker" },
  async (seed, { hours }, module) => (await runBrokerWorld({ seed, hours, module })).failure,
);
