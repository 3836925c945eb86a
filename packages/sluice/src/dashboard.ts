/** The dashboard of an embedded Sluice, inside the HTTP server that you have, behind its login. */
import type { IncomingMessage } from "node:http";
import { type Dashboard, type DashboardOptions, mountDashboard } from "@sluice/server";
import type { Sluice } from "./sluice.ts";

export type { AppPage, Dashboard, DashboardOptions, Role } from "@sluice/server";

/**
 * Answers a handler: `createServer(page)`, `app.use("/ops", page)` of Express,
 * `app.register(page.fastify)` of Fastify, `app.all("/ops/*", (c) => page.fetch(c.req.raw, c))` of
 * Hono.
 */
export function dashboard<R = IncomingMessage>(
  sluice: Sluice,
  options: DashboardOptions<R>,
): Dashboard<R> {
  return mountDashboard(sluice.broker, options);
}
