/** A search as server-sent events: each indexer as it ends, then `done`. */
import type { ServerResponse } from "node:http";
import type { Search } from "../service/search.ts";

const BEAT_MS = 15_000;
/** A reader that lets this much pile up does not read. */
const PENDING_BYTES_MAX = 16 * 1024 * 1024;

export async function streamSearch(
  search: Search,
  response: ServerResponse,
  closing: AbortSignal,
): Promise<void> {
  response.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
  });
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const end = (): void => resolve();
  const beat = setInterval(() => response.write(": alive\n\n"), BEAT_MS);
  response.on("close", end);
  closing.addEventListener("abort", end, { once: true });
  const leave = search.listen(({ event, ...data }) => {
    response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    if (event === "done" || response.writableLength > PENDING_BYTES_MAX) end();
  });
  await over;
  leave();
  clearInterval(beat);
  closing.removeEventListener("abort", end);
  response.end();
}
