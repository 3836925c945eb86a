/** Listens with threads: what they accept is handed to the HTTP server as its own. */
import { type Duration, parseDuration } from "@sluice/protocol";
import { CLOSE_TIMEOUT_MS, STREAM_CLOSE_MS } from "../limits.ts";
import { secureOptions } from "../shell/listener.ts";
import type { ShellOptions } from "../shell/options.ts";
import type { Shell } from "../shell/shell.ts";
import type { Listening } from "./io-thread.ts";
import { IoThreads } from "./io-threads.ts";

export interface ThreadedListener {
  readonly at: Listening;
  readonly threads: IoThreads;
  close(timeout?: Duration): Promise<void>;
}

export async function listenWithThreads(
  { app, limits, log }: Shell,
  { host = "127.0.0.1", port = 0, tls }: ShellOptions,
  count: number,
): Promise<ThreadedListener> {
  const { server } = app;
  let threads: IoThreads | undefined;
  app.addHook("preClose", async () => {
    threads?.stop();
    // It does not listen itself: this ends what rests, and its search for slow connections.
    server.close();
  });
  await app.ready();
  // It begins to look for slow connections.
  server.emit("listening");
  const opened = await IoThreads.open({
    data: {
      tls: tls === undefined ? undefined : secureOptions(tls),
      connectionsMax: limits.connectionsMax,
    },
    count,
    host,
    port,
    onConnection: (connection) => void server.emit("connection", connection),
    onWarning: (text) => log.warn(text),
  });
  threads = opened.threads;
  // What it would answer are those that it has accepted itself.
  server.getConnections = (answer) => {
    answer(null, opened.threads.connections);
    return server;
  };
  return {
    ...opened,
    close: async (timeout = CLOSE_TIMEOUT_MS) => {
      const timeoutMs = parseDuration("close.timeout", timeout);
      let timer = setTimeout(() => {
        opened.threads.cut();
        // A thread that does not answer reports no end of its connections.
        timer = setTimeout(() => void opened.threads.end(), STREAM_CLOSE_MS);
      }, timeoutMs);
      try {
        await app.close();
        await opened.threads.idle();
      } finally {
        clearTimeout(timer);
        await opened.threads.end();
      }
    },
  };
}
