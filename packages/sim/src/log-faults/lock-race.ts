// Many processes try to open the same log, and some of them die. Two must never have it open at
// once.

import assert from "node:assert/strict";
import type { Processes } from "@sluice/log";
import { Random } from "../random.ts";
import type { LogModule } from "./life.ts";
import { DIR, SimDisk } from "./sim-disk.ts";

const CONTENDERS = 5;
const TRIES = 6;

export async function raceForLock(module: LogModule, seed: number): Promise<void> {
  const random = new Random(seed);
  const disk = new SimDisk(random);
  disk.stalls = 0.03;
  // A process dies by leaving this set: what it has open stays as it is.
  const running = new Set<number>();
  const holders = new Set<number>();
  let nextPid = 1;
  let opened = 0;

  const contend = async (): Promise<void> => {
    for (let tries = 0; tries < TRIES; tries++) {
      const pid = nextPid++;
      running.add(pid);
      const processes: Processes = {
        self: () => ({ pid, startedTicks: pid, bootId: "a" }),
        isRunning: (name) => running.has(name.pid),
      };
      const log = await openOrRefuse(module, disk, processes);
      if (log === undefined) continue;
      opened++;
      holders.add(pid);
      assert.equal(holders.size, 1, `processes ${[...holders]} have the log`);
      for (let pause = random.below(30); pause > 0; pause--) await undefined;
      holders.delete(pid);
      if (random.chance(0.5)) running.delete(pid);
      else await log.close();
      running.delete(pid);
    }
  };

  try {
    await Promise.all(Array.from({ length: CONTENDERS }, contend));
    assert.ok(opened > 0, "no one got the log");
  } catch (error) {
    throw new Error(`lock race, seed ${seed}: ${(error as Error).message}`, { cause: error });
  }
}

async function openOrRefuse(module: LogModule, disk: SimDisk, processes: Processes) {
  try {
    return await module.FileLog.open({ dir: DIR, disk, processes });
  } catch (error) {
    assert.equal((error as { code?: string }).code, "LOG_LOCKED", (error as Error).message);
    return undefined;
  }
}
