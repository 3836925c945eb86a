/** The whole service: settings in, a server that listens out. */

import type { LookupFunction } from "node:net";
import type { Clock } from "sluice";
import { type AppPage, FixedKeys, type LogLevel, type LogOptions, serveApp } from "sluice/http";
import { hostRoutes } from "./http/host-routes.ts";
import { jsonRoutes } from "./http/json-routes.ts";
import { sourceRoutes } from "./http/source-routes.ts";
import { brokenRequest, torznabRoutes } from "./http/torznab-routes.ts";
import { BODY_BYTES_MAX } from "./limits.ts";
import { pageOf } from "./page/page.ts";
import { addGauges } from "./service/gauges.ts";
import { logFailure, readinessOf } from "./service/health.ts";
import { TorznabService } from "./service/service.ts";
import { parseSettings, type Settings } from "./settings/settings.ts";

export interface TorznabOptions {
  /** Absent: the defaults, and what the environment says. */
  readonly settings?: Settings | undefined;
  readonly clock?: Clock | undefined;
  readonly lookup?: LookupFunction | undefined;
  readonly log?: LogLevel | LogOptions | undefined;
}

export interface RunningTorznab {
  readonly address: string;
  readonly service: TorznabService;
  /** Resolves when the log takes nothing more: then the service is to be ended. */
  readonly failed: Promise<Error>;
  page(): AppPage;
  close(): Promise<void>;
}

export async function torznab(options: TorznabOptions = {}): Promise<RunningTorznab> {
  const settings = options.settings ?? parseSettings({}, process.env);
  const { host, port, apiKey, insecure } = settings;
  const service = await TorznabService.open({ ...options, settings });
  const { sluice } = service.parts;
  const failed = logFailure(sluice, (error) => console.error("torznab:", error.message));
  const keys = apiKey === undefined ? undefined : [apiKey];
  try {
    const server = await serveApp({
      title: "Sluice Torznab",
      description: "Searches over many Torznab indexers, each within its own limits.",
      host,
      port,
      insecure,
      log: options.log,
      limits: { bodyBytesMax: BODY_BYTES_MAX },
      pages: [pageOf(service)],
      broken: brokenRequest,
      health: () => readinessOf(sluice),
      ...(keys === undefined ? {} : { keys }),
      routes: (app, { registry, closing }) => {
        service.parts.metrics.showIn(registry);
        addGauges(registry, service);
        torznabRoutes(app, { service, keys: keys === undefined ? undefined : new FixedKeys(keys) });
        jsonRoutes(app, service, closing);
        hostRoutes(app, service);
        sourceRoutes(app, service, service.sources);
      },
    });
    return {
      address: server.address,
      service,
      failed,
      page: () => pageOf(service, `${server.address}/`),
      async close() {
        await server.close({ timeout: 1_000 });
        await service.close();
      },
    };
  } catch (error) {
    await service.close();
    throw error;
  }
}
