/**
 * An app's own HTTP server: its routes, behind the same checks, limits and logs as the broker's,
 * with health, metrics, a description and its page for the dashboard.
 */
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { healthRoutes, type Readiness } from "./health.ts";
import { ANYONE, FixedKeys } from "./keys/principal.ts";
import { metricRoutes } from "./metrics/metrics.ts";
import { RequestTimes } from "./metrics/request-times.ts";
import { describe } from "./openapi.ts";
import { appRoutes } from "./routes/apps.ts";
import { dashboardRoutes } from "./routes/dashboard.ts";
import { pulseRoutes } from "./routes/pulse.ts";
import { sessionRoutes } from "./routes/session.ts";
import { listen, type Running } from "./running.ts";
import { checkAddress, checkKnown, type ShellOptions } from "./shell/options.ts";
import { newShell } from "./shell/shell.ts";

export type HttpApp = FastifyInstance;

export interface AppParts {
  /** For the app's own metrics: `new Counter({ ..., registers: [registry] })`. */
  readonly registry: Registry;
  readonly log: Logger;
  /** Aborted when the server begins to close. */
  readonly closing: AbortSignal;
}

export interface ServeAppOptions extends ShellOptions {
  title: string;
  description?: string | undefined;
  /** Callers with one of these keys have full access; absent: no key is needed. */
  keys?: readonly string[] | undefined;
  /**
   * Who shows a key that is not among `keys`: the answer is `request.principal.id` in the app's own
   * routes, which decide what such a caller may do; undefined refuses it. Metrics and pages are for
   * holders of `keys` alone.
   */
  callers?: ((key: string) => string | undefined) | undefined;
  /** Absent: ready as soon as it listens. */
  health?: (() => Readiness | Promise<Readiness>) | undefined;
  /** A route with `config: { isPublic: true }` asks for no key. */
  routes?: ((app: HttpApp, parts: AppParts) => void | Promise<void>) | undefined;
}

export interface RunningApp extends Running {
  readonly registry: Registry;
}

const OWN: Readonly<Record<Exclude<keyof ServeAppOptions, keyof ShellOptions>, true>> = {
  title: true,
  description: true,
  keys: true,
  callers: true,
  health: true,
  routes: true,
};

export async function serveApp(options: ServeAppOptions): Promise<RunningApp> {
  checkKnown("serveApp", options, OWN);
  const { title, description = title, keys, health, routes, pages = [] } = options;
  const fixed = keys === undefined ? undefined : new FixedKeys(keys);
  checkAddress(options, fixed !== undefined);
  const shell = newShell(options, {
    hasKeys: fixed !== undefined,
    verify: (key) => {
      if (fixed === undefined) return ANYONE;
      const id = key === undefined || fixed.has(key) ? undefined : options.callers?.(key);
      return id === undefined ? fixed.verify(key) : { id, grants: () => [], charge: () => {} };
    },
  });
  const { app, log, clock, closing } = shell;
  const { newRegistry } = await import("./metrics/registry.ts");
  const registry = newRegistry(app, RequestTimes.of(app));
  const running = await listen(shell, options, async () => {
    describe(app, { title, description });
    healthRoutes(app, async () => (await health?.()) ?? { isReady: true, text: "ready" });
    metricRoutes(app, async () => registry);
    appRoutes(app, pages);
    const hasKeys = fixed !== undefined;
    sessionRoutes(app, { hasKeys, hasBroker: false, isTls: options.tls !== undefined });
    if (pages.length > 0) {
      const { eventStreamsMax: readersMax } = shell.limits;
      pulseRoutes(app, { look: async () => [], clock, readersMax, closing });
      dashboardRoutes(app);
    }
    await routes?.(app, { registry, log, closing });
  });
  return { ...running, registry };
}
