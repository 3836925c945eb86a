import { openBroker } from "@sluice/broker";
import { connectBroker } from "@sluice/client/remote";
import { MemoryLog } from "@sluice/log";
import type { Broker } from "@sluice/protocol";
import type { HowItEnds, Opened } from "@sluice/protocol/conformance";
import { settlingClock, turns } from "@sluice/protocol/testing";

/** Turns of the event loop after which all that needs no time has come through. */
const TURNS = 6;
/** Questions and answers over the socket, one after the other, that let all behind them arrive. */
const ROUND_TRIPS = 2;

export interface Serving {
  readonly url: string;
  close(): Promise<void>;
}

/** A server with a broker on a memory log, and a client on a real socket of the loopback. */
export async function openServed(serve: (broker: Broker) => Promise<Serving>): Promise<Opened> {
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
  let served = await serve(broker);
  let client = await connectBroker(served.url);
  return {
    broker: client,
    now: () => clock.now(),
    advance: (ms) => clock.advance(ms),
    async reopen(how: HowItEnds) {
      if (how === "close") await client.close();
      else await log.close();
      await served.close();
      if (how === "close") await broker.close();
      else void client.close();
      await turns(TURNS);
      clock.forget();
      log = new MemoryLog({ after: log });
      broker = await openBroker({ log, clock });
      served = await serve(broker);
      client = await connectBroker(served.url);
      return client;
    },
    async close() {
      await client.close();
      await served.close();
      await broker.close();
    },
  };
}
