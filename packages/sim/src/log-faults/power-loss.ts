// Lives that end with a power loss, one after the other on the same disk.

import { Random } from "../random.ts";
import { type LogModule, LogStory } from "./life.ts";
import { SimDisk } from "./sim-disk.ts";

const LIVES = 5;
const STEPS = 40;
const CALLS_MAX = 220;

// Answers how many images were opened. Throws what the log did wrong, with the seed.
export async function losePower(module: LogModule, seed: number): Promise<number> {
  const random = new Random(seed);
  const story = new LogStory(module, random, seed % 5 === 0 ? "os" : "fsync");
  let disk = new SimDisk(random);
  try {
    for (let life = 0; life < LIVES; life++) {
      disk = await liveUntilCrash(story, disk, random);
      story.reboot();
    }
    const log = await story.open(disk);
    await log.close();
    return LIVES;
  } catch (error) {
    throw new Error(`power loss, seed ${seed}: ${(error as Error).message}`, { cause: error });
  }
}

async function liveUntilCrash(story: LogStory, disk: SimDisk, random: Random): Promise<SimDisk> {
  const lastCall = disk.calls + random.below(CALLS_MAX);
  let after: SimDisk | undefined;
  const crashed = new Promise<void>((resolve) => {
    disk.onCall = ({ count }) => {
      if (count !== lastCall) return undefined;
      after = disk.crash();
      resolve();
      return undefined;
    };
  });
  const work = story.work(disk, STEPS);
  work.catch(() => {});
  await Promise.race([crashed, work]);
  return after ?? disk.crash();
}
