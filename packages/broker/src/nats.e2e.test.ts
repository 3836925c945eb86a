// The suite of the port on brokers whose log is a stream of real NATS servers.

import { after, before, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { connectNats, NatsLog } from "@sluice/log/nats";
import { NatsServers } from "@sluice/log/testing";
import { brokerConformance, type HowItEnds, type Opened } from "@sluice/protocol/conformance";
import { settlingClock } from "@sluice/protocol/testing";
import { type LocalBroker, openBroker } from "./index.ts";
import type { OpenOptions } from "./options.ts";

const CASE_MS_MAX = 60_000;
const TURNS = 6;

let servers: NatsServers;
let connection: Awaited<ReturnType<typeof connectNats>>;
let streams = 0;

before(async () => {
  servers = await NatsServers.start();
  connection = await connectNats(servers.urls);
});
after(async () => {
  await connection?.close();
  await servers?.stop();
});

/** The log takes as long as the servers do. */
async function settle(broker: LocalBroker | undefined): Promise<void> {
  for (let turn = 0; turn < TURNS; ) {
    await setImmediate();
    const { unsyncedBytes } = (await broker?.stats().catch(() => undefined)) ?? {};
    turn = unsyncedBytes ? 0 : turn + 1;
  }
}

/** A crash is a successor that opens the stream while the broker still has it. */
function opener(options: Partial<OpenOptions>): () => Promise<Opened> {
  const { segmentBytes } = options;
  const segments = segmentBytes === undefined ? {} : { segmentBytes };
  return async () => {
    const stream = `broker-${++streams}`;
    let broker: LocalBroker | undefined;
    const clock = settlingClock(() => settle(broker));
    const open = async (): Promise<LocalBroker> => {
      const log = await NatsLog.open({ connection, stream, ...segments });
      return openBroker({ ...options, log, clock });
    };
    broker = await open();
    return {
      broker,
      now: () => clock.now(),
      advance: (ms) => clock.advance(ms),
      async reopen(how: HowItEnds) {
        if (how === "close") await broker!.close();
        clock.forget();
        broker = await open();
        return broker;
      },
      close: () => broker!.close(),
    };
  };
}

function conforms(name: string, options: Partial<OpenOptions>): void {
  brokerConformance(name, opener(options), (sentence, run) => {
    test(sentence, { timeout: CASE_MS_MAX }, run);
  });
}

conforms("on NATS", {});
conforms("on NATS, cleaning all the time", { segmentBytes: 2048 });
conforms("on NATS, payloads in the stream", { payloadMemoryBytes: 1 });
