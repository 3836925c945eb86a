// Loaded before the server: on SIGUSR2 its first thread fails, as after a fault in its program.

import type { Worker } from "node:worker_threads";

process.once("worker", (thread: Worker) => {
  // A packet that is cut off.
  process.on("SIGUSR2", () => thread.postMessage(Uint8Array.of(1)));
});
