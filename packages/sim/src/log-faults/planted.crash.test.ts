// Bugs that the faults must find, each with the kind of fault that shows it.

import * as real from "@sluice/log";
import { findPlanted, type PlantedBug } from "../plant.ts";
import { damageOnce, makeHealthy } from "./damage.ts";
import { failOnce } from "./io-errors.ts";
import type { LogModule } from "./life.ts";
import { raceForLock } from "./lock-race.ts";
import { losePower } from "./power-loss.ts";

const SEEDS_MAX = 200;

const HUNTS = {
  powerLoss: losePower,
  ioErrors: failOnce,
  // Another seed for the harm: else it is drawn by the same luck as what is harmed.
  damage: async (module: LogModule, seed: number) =>
    damageOnce(module, await makeHealthy(module, seed), -seed),
  lockRace: raceForLock,
};

interface LogBug extends PlantedBug {
  readonly shownBy: keyof typeof HUNTS;
}

const PLANTED: Record<string, LogBug> = {
  "a frame is not synced": {
    shownBy: "powerLoss",
    file: "writer.ts",
    find: "await file.sync();",
    put: "",
  },
  "the directory is not synced when a segment is made": {
    shownBy: "powerLoss",
    file: "writer.ts",
    find: "if (frame.beginsSegment) await disk.syncDir(dir);",
    put: "",
  },
  "appends are confirmed before the sync": {
    shownBy: "powerLoss",
    file: "writer.ts",
    find: "await file.sync();",
    put: "frame.done.resolve(frame.position); await file.sync();",
  },
  "a trim is not durable before its segments go": {
    shownBy: "powerLoss",
    file: "file-log.ts",
    find: "await this.#writer.noteTrim(last.end);",
    put: "this.#writer.noteTrim(last.end).catch(() => {});",
  },
  "every broken frame is taken for damage": {
    shownBy: "powerLoss",
    file: "search.ts",
    find: "at - head.unsynced > offset",
    put: "at > offset",
  },
  "the last segment is not synced before the next": {
    shownBy: "powerLoss",
    file: "writer.ts",
    find: "await this.#file.sync();",
    put: "{}",
  },
  "the writing continues after a failed sync": {
    shownBy: "ioErrors",
    file: "writer.ts",
    find: "this.#error ??= error;",
    put: "",
  },
  "a failed sync is tried again": {
    shownBy: "ioErrors",
    file: "writer.ts",
    find: "await file.sync();",
    put: "await file.sync().catch(() => file.sync());",
  },
  "a start trusts what is in the cache": {
    shownBy: "ioErrors",
    file: "recover.ts",
    find: "for (let from = synced; from < end;",
    put: "for (let from = end; from < end;",
  },
  "a short write is taken for a whole one": {
    shownBy: "ioErrors",
    file: "disk.ts",
    within: "export async function writeAll",
    find: "done += count;",
    put: "done = bytes.length;",
  },
  "the checksum of facts is not looked at": {
    shownBy: "damage",
    file: "frame.ts",
    find: "return false;",
    put: "return true;",
  },
  "damage is cut like a torn tail": {
    shownBy: "damage",
    file: "search.ts",
    find: "return proof !== undefined;",
    put: "return proof === null;",
  },
  "a missing oldest segment is taken for a trim": {
    shownBy: "damage",
    file: "recover.ts",
    find: "kept[0]?.base !== trimmed",
    put: "kept[0] === undefined",
  },
  "a log that was cut after its orderly end opens": {
    shownBy: "damage",
    file: "recover.ts",
    find: "end >= sealed.end",
    put: "end >= 0",
  },
  "a lock of a running process is taken": {
    shownBy: "lockRace",
    file: "lock.ts",
    find: "processes.isRunning(owner)",
    put: "false",
  },
  "a process that takes a lock does not look again": {
    shownBy: "lockRace",
    file: "lock.ts",
    find: "other > number",
    put: "false",
  },
};

findPlanted<LogModule, LogBug>(
  PLANTED,
  SEEDS_MAX,
  { name: "@sluice/log" },
  async (seed, { shownBy }, module) => {
    try {
      await HUNTS[shownBy](module ?? real, seed);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  },
);
