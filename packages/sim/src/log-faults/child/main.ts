// Appends as fast as it can and reports each confirmed number to the parent, until it is killed.
// Started by kill.crash.test.ts with the directory of the log.

import { writeSync } from "node:fs";
import { FileLog } from "@sluice/log";

const [dir = "", first = "1"] = process.argv.slice(2);
const log = await FileLog.open({ dir, segmentBytes: 64 * 1024 });
for await (const _batch of log.replay());

let next = Number(first);
const appendOn = async (): Promise<never> => {
  for (;;) {
    const number = next++;
    const facts = Buffer.alloc(8 + (number % 3000), number);
    facts.writeDoubleLE(number);
    await log.append(facts);
    // Writes without a buffer, so that everything confirmed before a kill is reported.
    writeSync(1, `${number}\n`);
  }
};
await Promise.all([appendOn(), appendOn(), appendOn(), appendOn()]);
