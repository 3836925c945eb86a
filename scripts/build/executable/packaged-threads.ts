// Threads in an executable: their programs are assets of it, by the names of their files.

import { getAsset } from "node:sea";
import { Worker as WorkerOfFile, type WorkerOptions } from "node:worker_threads";

export { isMainThread, parentPort, workerData } from "node:worker_threads";

class WorkerOfAsset extends WorkerOfFile {
  constructor(program: URL, options: WorkerOptions) {
    const name = program.pathname.slice(program.pathname.lastIndexOf("/") + 1);
    super(getAsset(name, "utf8"), { ...options, eval: true });
  }
}

export { WorkerOfAsset as Worker };
