import assert from "node:assert/strict";
import { test } from "node:test";
import { openBroker } from "@sluice/broker";
import { MemoryLog } from "@sluice/log";
import { type Broker, type BrokerEvent, SluiceError } from "@sluice/protocol";
import { FakeClock } from "./fake-clock.ts";
import { Group } from "./group.ts";

/** A broker with a group of one job, and a port to it on which some calls are others. */
async function open(
  instead: (broker: Broker, end: () => Promise<unknown>) => Partial<Broker>,
): Promise<{ group: Group; end: () => Promise<unknown>; broker: Broker }> {
  const broker = await openBroker({ log: new MemoryLog(), clock: new FakeClock() });
  await broker.setQueue("mail", {});
  const [added] = await broker.add("mail", [{ payload: new Uint8Array(1), group: "g" }]);
  const end = (): Promise<unknown> => broker.cancel([added?.ok?.id ?? ""]);
  const own = instead(broker, end);
  const port: Broker = new Proxy<Broker>(broker, {
    get(target, name) {
      if (name in own) return Reflect.get(own, name);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { group: new Group(port, "g"), end, broker };
}

test("an end between the question and the listening is not missed", async () => {
  const { group, broker } = await open((broker, end) => ({
    // A port that begins to listen when it is first read.
    async *events(filter) {
      yield* broker.events(filter);
    },
    group: async (id) => {
      const info = await broker.group(id);
      if (!info.ended) await end();
      return info;
    },
  }));
  const { ended, members } = await group.finished();
  assert.deepEqual([ended, members[0]?.ending], [true, "cancelled"]);
  await broker.close();
});

test("a group that has ended is answered at once, whatever the listening does", async () => {
  const { group, end, broker } = await open(() => ({
    async *events(): AsyncGenerator<BrokerEvent> {
      await new Promise(() => {});
    },
  }));
  await end();
  assert.equal((await group.finished()).ended, true);
  await broker.close();
});

test("a reader that is cut off asks again", async () => {
  let readings = 0;
  const { group, end, broker } = await open((broker, end) => ({
    events: (filter) => {
      readings++;
      const events = broker.events(filter);
      if (readings > 1) return events;
      events.next = async () => {
        // The question is answered by then.
        await new Promise(setImmediate);
        await end();
        throw new SluiceError("RATE_LIMITED", "events were not read");
      };
      return events;
    },
  }));
  assert.equal((await group.finished()).ended, true);
  assert.equal(readings, 2);
  await end();
  await broker.close();
});
