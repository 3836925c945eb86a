// What an announce would cost that has to go to another thread and back. Sockets that share a port
// spread packets by sender, so of two threads each would get half of its announces for the other.

import { isMainThread, parentPort, Worker } from "node:worker_threads";
import type { Figure, Group, Scale } from "../figure.ts";
import { figureOf } from "../spread.ts";

const PACKET_BYTES = 98;
const IN_FLIGHT = 64;
const HOPS = 200_000;

export const threadHopGroups: readonly Group[] = [
  {
    name: "thread-hop",
    run: async (scale, report) => report(await measure(scale)),
  },
];

async function measure(scale: Scale): Promise<Figure> {
  const hops = scale.size(HOPS);
  const worker = new Worker(new URL(import.meta.url));
  const micros: number[] = [];
  for (let run = -1; run < scale.runs; run++) {
    const from = process.cpuUsage();
    await hop(worker, hops);
    const { user, system } = process.cpuUsage(from);
    if (run >= 0) micros.push((user + system) / hops);
  }
  await worker.terminate();
  const metric = "processor time of a hop to another thread and back";
  return figureOf(metric, "µs", micros, { hops, inFlight: IN_FLIGHT });
}

function hop(worker: Worker, hops: number): Promise<void> {
  let sent = 0;
  let received = 0;
  const send = (): void => {
    sent++;
    worker.postMessage({ packet: new Uint8Array(PACKET_BYTES), port: 6881, address: "127.0.0.1" });
  };
  const { promise, resolve } = Promise.withResolvers<void>();
  worker.removeAllListeners("message").on("message", () => {
    if (++received === hops) resolve();
    else if (sent < hops) send();
  });
  for (let i = 0; i < IN_FLIGHT; i++) send();
  return promise;
}

if (!isMainThread && parentPort !== null) {
  const port = parentPort;
  port.on("message", (message) => port.postMessage(message));
}
