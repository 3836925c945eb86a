import type { LeasedJob } from "@sluice/protocol";
import { type Channel, DELIVERY_BYTES_AIM, KIND, writeLeasedJob } from "@sluice/protocol/wire";

/** Jobs for one consumer; many of them travel as several messages. */
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
    while (at < jobs.length && writer.frameSize < DELIVERY_BYTES_AIM);
    writer.setPlace(place, at - from);
    channel.end();
    if (at < jobs.length) channel.cut();
  }
}
