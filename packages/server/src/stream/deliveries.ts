import type { LeasedJob } from "@sluice/protocol";
import { type Channel, FRAME_BYTES_AIM, KIND, writeLeasedJob } from "@sluice/protocol/wire";

/** Jobs for one consumer, in as few frames as their size allows. */
export function writeDeliveries(
  channel: Channel,
  consumer: number,
  jobs: readonly LeasedJob[],
): void {
  let at = 0;
  while (at < jobs.length) {
    const writer = channel.begin(KIND.deliver, consumer);
    const place = writer.place();
    const from = at;
    do writeLeasedJob(writer, jobs[at++]!);
    while (at < jobs.length && writer.frameSize < FRAME_BYTES_AIM);
    writer.setPlace(place, at - from);
    channel.end();
  }
}
