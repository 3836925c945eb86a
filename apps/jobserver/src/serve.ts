/** The job server as a whole: its queue, its workers and its HTTP. */
import { type RunningApp, serveApp } from "sluice/http";
import type { Config } from "./config.ts";
import type { JobHandlers } from "./handlers/handler.ts";
import { checkHandlers } from "./handlers/load.ts";
import { shippedHandlers } from "./handlers/shipped.ts";
import { routes } from "./http.ts";
import { JobServer } from "./job-server.ts";
import { BODY_BYTES_MAX } from "./limits.ts";
import type { Log } from "./log.ts";
import { addMetrics } from "./metrics.ts";
import { page } from "./page.ts";

export interface JobServerOptions {
  readonly config: Config;
  /** Beside the shipped ones, which they may replace. */
  readonly handlers?: JobHandlers | undefined;
}

export interface RunningJobServer extends AsyncDisposable {
  readonly server: JobServer;
  readonly address: string;
  close(options?: { timeout?: number }): Promise<void>;
}

export async function createJobServer(options: JobServerOptions): Promise<RunningJobServer> {
  const { config } = options;
  const own = options.handlers === undefined ? {} : checkHandlers(options.handlers, "handlers");
  const handlers = { ...shippedHandlers, ...own };
  checkTypes(config, handlers);
  const early = new DeferredLog();
  const server = await JobServer.open(config, handlers, early);
  let app: RunningApp;
  try {
    app = await listen(config, server, early);
  } catch (error) {
    await server.close();
    throw error;
  }
  const close = async ({ timeout = 10_000 } = {}): Promise<void> => {
    await app.close({ timeout });
    await server.close({ timeout });
  };
  return { server, address: app.address, close, [Symbol.asyncDispose]: close };
}

/** Keeps messages until there is a log to write them to. */
class DeferredLog implements Log {
  #log: Log | undefined = undefined;
  readonly #kept: [keyof Log, string][] = [];

  writeTo(log: Log): void {
    this.#log = log;
    for (const [level, message] of this.#kept) log[level](message);
  }

  debug(message: string): void {
    this.#say("debug", message);
  }

  info(message: string): void {
    this.#say("info", message);
  }

  warn(message: string): void {
    this.#say("warn", message);
  }

  error(message: string): void {
    this.#say("error", message);
  }

  #say(level: keyof Log, message: string): void {
    if (this.#log === undefined) this.#kept.push([level, message]);
    else this.#log[level](message);
  }
}

function listen(config: Config, server: JobServer, early: DeferredLog): Promise<RunningApp> {
  return serveApp({
    title: "Sluice job server",
    description: "Jobs over HTTP, preferred submitters first.",
    host: config.host,
    port: config.port,
    ...(config.apiKey === undefined ? {} : { keys: [config.apiKey] }),
    limits: { bodyBytesMax: BODY_BYTES_MAX },
    log: config.logLevel,
    pages: [page(server)],
    health: () => server.readiness(),
    routes: (http, { registry, log, closing }) => {
      early.writeTo(log);
      addMetrics(registry, server);
      routes(http, server, closing);
    },
  });
}

/** Refuses a limit for a type without a handler. */
function checkTypes({ typeLimits }: Config, handlers: JobHandlers): void {
  const unknown = typeLimits.find(([type]) => !Object.hasOwn(handlers, type));
  if (unknown === undefined) return;
  const known = Object.keys(handlers).join(", ");
  throw new Error(`JOB_TYPE_LIMITS names ${unknown[0]}, but the handlers are ${known}`);
}
