// Loaded before the server: on SIGUSR2 its first thread fails, as after a fault in its program.

import type { Worker } from "node:worker_threads";

// A packet of a kind that no thread understands, for each of the first connections.
const CONNECTIONS = 100;
const UNKNOWN_KIND = 0x7f;

process.once("worker", (thread: Worker) => {
  process.on("SIGUSR2", () => {
    for (let id = 1; id <= CONNECTIONS; id++) {
      thread.postMessage(Uint8Array.of(UNKNOWN_KIND, id, 0, 0, 0, 0, 0, 0, 0));
    }
  });
});
