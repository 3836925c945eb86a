// Publishes messages to JetStream, each acknowledged, from a process of its own.

import { jetstream } from "@nats-io/jetstream";
import { connectNats } from "@sluice/log/nats";
import { answer } from "../answer.ts";
import { keepInFlight } from "../embedded/load.ts";
import { PAYLOAD_BYTES, SINGLES_IN_FLIGHT } from "./load.ts";

const payload = Buffer.alloc(PAYLOAD_BYTES, 7);

let client: ReturnType<typeof jetstream>;
let streams: readonly string[] = [];
const ids: string[] = [];
let at = 0;

async function publish(): Promise<void> {
  const stream = streams[at++ % streams.length]!;
  const { seq } = await client.publish(stream, payload);
  ids.push(`${stream} ${seq}`);
}

answer({
  async open(urls: string[], names: readonly string[]) {
    client = jetstream(await connectNats(urls));
    streams = names;
  },

  singles: (jobs: number) => keepInFlight(SINGLES_IN_FLIGHT, jobs, publish),

  ids: () => ids.splice(0),
});
