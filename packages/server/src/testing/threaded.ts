import { openBroker } from "@sluice/broker";
import { connectBroker } from "@sluice/client/remote";
import { MemoryLog } from "@sluice/log";
import type { HowItEnds, Opened } from "@sluice/protocol/conformance";
import { settlingClock, turns } from "@sluice/protocol/testing";
import { type RunningServer, serve } from "../serve.ts";

const TURNS = 6;
/** Questions and answers through the thread, that let all behind them arrive. */
const ROUND_TRIPS = 2;

/** A server whose connections another thread holds, and a client on a real socket. */
export async function openThreaded(): Promise<Opened> {
  const settle = async (): Promise<void> => {
    await turns(TURNS);
    for (let trip = 0; trip < ROUND_TRIPS; trip++) {
      await client.giveBack([]).catch(() => {});
      await turns(TURNS);
    }
  };
  const clock = settlingClock(settle);
  let log = new MemoryLog();
  let broker = await openBroker({ log, clock });
  const served = (): Promise<RunningServer> => serve({ broker, log: "silent", threads: 2 });
  let server = await served();
  let client = await connectBroker(server.address);
  return {
    broker: client,
    now: () => clock.now(),
    advance: (ms) => clock.advance(ms),
    async reopen(how: HowItEnds) {
      if (how === "close") await client.close();
      else await log.close();
      await server.close();
      if (how === "close") await broker.close();
      else void client.close();
      await turns(TURNS);
      clock.forget();
      log = new MemoryLog({ after: log });
      broker = await openBroker({ log, clock });
      server = await served();
      client = await connectBroker(server.address);
      return client;
    },
    async close() {
      await client.close();
      await server.close();
      await broker.close();
    },
  };
}
