// A server with one broker, as `sluice serve` runs it.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { openBroker } from "@sluice/broker";
import { FileLog } from "@sluice/log";
import { serve } from "@sluice/server";
import { serveStream } from "@sluice/server/stream";
import { setServerFlags } from "@sluice/server/v8-flags";
import { answer } from "../answer.ts";

// As the library opens it: a quarter of what may be held beyond twice the live data.
const SEGMENT_BYTES = 16 * 1024 * 1024;

setServerFlags();

answer({
  async open(
    dir: string,
    durability: "fsync" | "os",
    threads: number,
    payloadMemoryBytes?: number,
  ) {
    const log = await FileLog.open({ dir, durability, segmentBytes: SEGMENT_BYTES });
    const broker = await openBroker({ log, ...(payloadMemoryBytes && { payloadMemoryBytes }) });
    if (threads > 0) return (await serve({ broker, threads, log: "silent" })).address;
    const http = createServer();
    serveStream(http, { open: async () => broker });
    http.listen(0, "127.0.0.1");
    await once(http, "listening");
    return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  },

  // What the process holds when all that can be freed is.
  memoryBytes() {
    globalThis.gc?.();
    globalThis.gc?.();
    return process.memoryUsage().rss;
  },
});
