/** The dashboard, on an address of its own: the tracker's address is public. */
import { type RunningApp, serveApp } from "sluice/http";
import { page } from "./page.ts";
import type { Retracker } from "./retracker.ts";
import { parseListen } from "./settings/settings.ts";

/** Serves the retracker's page, when there is an address for it. */
export async function openDashboard(retracker: Retracker): Promise<RunningApp | undefined> {
  const { dashboard_listen, dashboard_key: key } = retracker.settings;
  const place = parseListen(dashboard_listen);
  if (place === undefined) return undefined;
  return serveApp({
    title: "Retracker",
    description: "A BitTorrent tracker that announces to other trackers.",
    host: place.host ?? "0.0.0.0",
    port: place.port,
    log: "warn",
    pages: [page(retracker)],
    ...(key === "" ? {} : { keys: [key] }),
  });
}
