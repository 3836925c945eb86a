/** Server-sent events: what happens to a submitter's jobs, from now on. */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { SluiceError } from "sluice";
import type { JobNewsItem } from "./job-news.ts";
import type { JobServer } from "./job-server.ts";
import { EVENT_READERS_MAX, EVENTS_BEAT_MS, EVENTS_BEHIND_MAX } from "./limits.ts";

interface Reading {
  /** Absent: the jobs of all submitters. */
  readonly workerId?: string | undefined;
  readonly over: AbortSignal;
}

export class EventStreams {
  readonly #server: JobServer;
  #open = 0;

  constructor(server: JobServer) {
    this.#server = server;
  }

  check(): void {
    if (this.#open < EVENT_READERS_MAX) return;
    const message = `${EVENT_READERS_MAX} readers of events are connected, which is the limit; try again later`;
    throw new SluiceError("RATE_LIMITED", message, { retryAfterMs: EVENTS_BEAT_MS });
  }

  /** Until the reader leaves or falls behind, or `over` is aborted. */
  async serve(response: ServerResponse, { workerId, over }: Reading): Promise<void> {
    const gone = new AbortController();
    const leave = (): void => gone.abort();
    response.once("close", leave);
    response.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      connection: "close",
      "x-accel-buffering": "no",
    });
    response.write("retry: 2000\n: open\n\n");
    const beat = setInterval(() => response.write(": alive\n\n"), EVENTS_BEAT_MS);
    const stop = this.#server.news.listen((item) => {
      if (workerId !== undefined && item.submission.workerId !== workerId) return;
      response.write(this.#textOf(item));
      // A reader that does not read must not fill the memory: it can connect again.
      if (response.writableLength > EVENTS_BEHIND_MAX) response.destroy();
    });
    this.#open += 1;
    try {
      const end = AbortSignal.any([gone.signal, over]);
      if (!end.aborted) await once(end, "abort");
    } finally {
      this.#open -= 1;
      clearInterval(beat);
      stop();
      response.end();
    }
  }

  #textOf({ id, submission, status, tier, at, error }: JobNewsItem): string {
    const data = {
      uid: this.#server.uidOf(id),
      type: submission.type,
      worker_id: submission.workerId ?? null,
      status,
      queue: this.#server.tierName(tier),
      at: new Date(at).toISOString(),
      ...(error === undefined ? {} : { error }),
    };
    return `event: ${status}\ndata: ${JSON.stringify(data)}\n\n`;
  }
}
