/** The job server as a whole: its queue, its workers and its HTTP. */
import { type RunningApp, serveApp } from "sluice/http";
import type { Config } from "./config.ts";
import type { JobHandlers } from "./handlers/handler.ts";
import { checkHandlers } from "./handlers/load.ts";
import { shippedHandlers } from "./handlers/shipped.ts";
import { routes } from "./http.ts";
import { JobServer } from "./job-server.ts";
import { keyRoutes } from "./key-routes.ts";
import { BODY_BYTES_MAX } from "./limits.ts";
import type { Log } from "./log.ts";
import { addMetrics } from "./metrics.ts";
import { page } from "./page.ts";
import { type Runners, timeoutError, typesOf } from "./run.ts";
import { HandlerPool } from "./runners/pool.ts";

export interface JobServerOptions {
  readonly config: Config;
  /**
   * Beside the shipped ones, which they may replace. The path of a module: its handlers run in
   * threads of their own. Functions run in this thread, and must not compute for long.
   */
  readonly handlers?: string | JobHandlers | undefined;
}

export interface RunningJobServer extends AsyncDisposable {
  readonly server: JobServer;
  readonly address: string;
  close(options?: { timeout?: number }): Promise<void>;
}

export async function createJobServer(options: JobServerOptions): Promise<RunningJobServer> {
  const { config, handlers } = options;
  const early = new DeferredLog();
  const runners = await runnersOf(config, handlers, early);
  let server: JobServer;
  try {
    checkTypes(config, runners);
    server = await JobServer.open(config, runners, early);
  } catch (error) {
    runners.pool?.close();
    throw error;
  }
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
    callers: (key) => server.keys.holderOf(key)?.id,
    limits: { bodyBytesMax: BODY_BYTES_MAX },
    log: config.logLevel,
    pages: [page(server)],
    health: () => server.readiness(),
    routes: (http, { registry, log, closing }) => {
      early.writeTo(log);
      addMetrics(registry, server);
      routes(http, server, closing);
      keyRoutes(http, server);
    },
  });
}

async function runnersOf(
  config: Config,
  handlers: string | JobHandlers | undefined,
  log: Log,
): Promise<Runners> {
  if (typeof handlers !== "string") {
    const own = handlers === undefined ? {} : checkHandlers(handlers, "handlers");
    return { functions: { ...shippedHandlers, ...own } };
  }
  const pool = await HandlerPool.open({
    module: handlers,
    kind: config.isolation,
    max: config.workers.max,
    heapMib: config.heapMib,
    nice: config.nice,
    timeoutError,
    log,
  });
  return { functions: shippedHandlers, pool };
}

/** Refuses a limit for a type without a handler. */
function checkTypes({ typeLimits }: Config, runners: Runners): void {
  const types = typesOf(runners);
  const unknown = typeLimits.find(([type]) => !types.has(type));
  if (unknown === undefined) return;
  const known = [...types].join(", ");
  throw new Error(`JOB_TYPE_LIMITS names ${unknown[0]}, but the handlers are ${known}`);
}
