import { test } from "node:test";
import type { Broker, QueueOptions } from "@sluice/protocol";
import { brokerConformance, type HowItEnds, type Opened } from "@sluice/protocol/conformance";
import { MemoryDirectory } from "./directory.ts";
import { FakeClock, turns } from "./testing/fake-clock.ts";
import { MemoryCluster } from "./testing/memory-cluster.ts";

/** Turns of the event loop after which all that needs no time has come through. */
const TURNS = 16;
const CASE_MS_MAX = 20_000;

function opener(partitions: number, spread: number): () => Promise<Opened> {
  return async () => {
    const clock = new FakeClock(() => turns(TURNS));
    const directory = new MemoryDirectory(partitions);
    const options = { directory, clock, quietMs: 0 };
    let cluster = await MemoryCluster.open(options);
    return {
      broker: spreading(cluster.router, spread),
      now: () => clock.now(),
      advance: (ms) => clock.advance(ms),
      async reopen(how: HowItEnds) {
        await cluster.end(how);
        await turns(TURNS);
        cluster = await MemoryCluster.open(options, cluster);
        return spreading(cluster.router, spread);
      },
      close: () => cluster.end("close"),
    };
  };
}

/** Every queue that is made is spread over so many partitions. */
function spreading(broker: Broker, spread: number): Broker {
  if (spread === 1) return broker;
  return new Proxy(broker, {
    get(target, name) {
      if (name === "setQueue") {
        return (queue: string, options: QueueOptions) =>
          target.setQueue(queue, { ...options, spread });
      }
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

function conforms(name: string, partitions: number, spread = 1): void {
  brokerConformance(name, opener(partitions, spread), (sentence, run) => {
    test(sentence, { timeout: CASE_MS_MAX }, run);
  });
}

conforms("a cluster of 1 partition", 1);
conforms("a cluster of 4 partitions", 4);
conforms("a cluster of 4 partitions, queues spread over 3", 4, 3);
