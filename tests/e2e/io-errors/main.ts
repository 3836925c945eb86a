// A user's process whose disk fails: it adds jobs until an add is refused, reports the refusal and
// the results of the calls after it, and keeps running. It sends each id to its parent as soon as
// the add has been answered.

import { Sluice, SluiceError } from "sluice";

const PAYLOAD = "x".repeat(2_000);
const ADDS_MAX = 20_000;
const IN_FLIGHT = 8;

const dir = process.argv[2]!;
const told = (message: object): void => void process.send?.(message);
const codeOf = (error: unknown): string =>
  error instanceof SluiceError ? error.code : String(error);

const sluice = await Sluice.open({ dir, segmentBytes: 256 * 1024 });
const events: string[] = [];
sluice.on("error", ({ error }) => events.push(codeOf(error)));
const queue = await sluice.queue<string>("mail");
told({ is: "open" });

let left = ADDS_MAX;
const codes = new Set<string>();
async function addUntilRefused(): Promise<void> {
  while (left-- > 0 && codes.size === 0) {
    try {
      const job = await queue.add(PAYLOAD);
      told({ is: "added", id: job.id, isLate: codes.size > 0 });
    } catch (error) {
      codes.add(codeOf(error));
    }
  }
}
await Promise.all(Array.from({ length: IN_FLIGHT }, addUntilRefused));
const later = await queue.add(PAYLOAD).then(() => "confirmed", codeOf);
const closed = await sluice.close().then(() => "closed", codeOf);
const over = { is: "over", codes: [...codes], later, closed, events };
// What is not written yet when the channel closes is lost.
await new Promise((resolve) => process.send!(over, resolve));
process.disconnect();
