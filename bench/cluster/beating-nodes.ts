// Some of the simulated nodes, in a process of their own: one process could not receive the
// messages for hundreds of nodes.

import { NatsHeartbeats } from "@sluice/cluster/heartbeats";
import { Ownership } from "@sluice/cluster/node";
import { NatsRegistry } from "@sluice/cluster/registry";
import { connectNats } from "@sluice/log/nats";
import { SystemClock } from "@sluice/protocol";
import { answer } from "../answer.ts";

const HOST = {
  warm: async () => {},
  cool: () => {},
  open: async () => {},
  rest: () => {},
  resume: () => {},
  close: async () => {},
  prove: async () => {},
  anchorOf: () => undefined,
};

const nodes: Ownership[] = [];

answer({
  async add(urls: string[], bucket: string, partitions: number, first: number, count: number) {
    for (let i = first; i < first + count; i++) {
      const connection = await connectNats(urls);
      const registry = await NatsRegistry.open({ connection, bucket });
      const node = `node-${String(i).padStart(3, "0")}`;
      const ownership = new Ownership({
        ...{ registry, heartbeats: new NatsHeartbeats(connection, bucket) },
        ...{ clock: new SystemClock(), node, incarnation: node, address: `http://${node}` },
        ...{ version: "bench", partitions, host: HOST },
      });
      await ownership.start();
      nodes.push(ownership);
    }
  },

  // Whether each of them sees so many that live; and the partitions that they serve.
  look(living: number, partitions: number): { isWhole: boolean; served: number[] } {
    const isWhole = nodes.every(
      (one) => one.nodes().filter(({ isAlive }) => isAlive).length === living,
    );
    const all = Array.from({ length: partitions }, (_, i) => i);
    const isServed = (i: number): boolean => nodes.some((one) => one.life(i)?.state === "serving");
    return { isWhole, served: all.filter(isServed) };
  },
});
