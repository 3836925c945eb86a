/** The options of a mounted dashboard, checked once. */
import { type Clock, invalid, knownFields } from "@sluice/protocol";
import type { AppPage } from "../app-page.ts";
import type { LogLevel, LogOptions } from "../shell/log.ts";

/** `read-only` sees everything and changes nothing; `full` may do what an administrator may. */
export type Role = "read-only" | "full";

const ROLES: readonly Role[] = ["read-only", "full"];

/** `R` is a request as your server knows it: of Express, of Fastify, or a `Request`. */
export interface DashboardOptions<R> {
  /** Where the page is in your server, such as `/ops/queues`. Default `/`. */
  basePath?: string | undefined;
  /**
   * The name of the user who makes a request, or nothing if none is logged in: it is then refused
   * with 401. It is asked for every request, so that a logout counts at once, and every 5 seconds
   * about one whose answer is a stream.
   */
  user(request: R): User | Promise<User>;
  /** What users may do. Default `read-only`. */
  role?: Role | ((user: string, request: R) => Role | Promise<Role>) | undefined;
  /** Pages of your own, shown under Apps. */
  pages?: readonly AppPage[] | undefined;
  /** Origins that the page may have beside its own: a proxy may have changed the `Host` header. */
  allowOrigins?: readonly string[] | undefined;
  /** Default `warn`, to standard error. */
  log?: LogLevel | LogOptions | undefined;
  /** Its source of time; a test passes its own. */
  clock?: Clock | undefined;
}

type User = string | null | undefined;

const KNOWN = ["basePath", "user", "role", "pages", "allowOrigins", "log", "clock"] as const;

/** Answers the base path without a slash at its end: `/` becomes empty. */
export function checkOptions<R>(options: DashboardOptions<R>): string {
  knownFields("dashboard", options, KNOWN);
  const { user, role, basePath = "/" } = options;
  if (typeof user !== "function") {
    throw invalid("dashboard.user", "a function that answers who makes a request", user);
  }
  if (typeof role !== "function" && role !== undefined) checkRole(role);
  return checkPath(basePath);
}

export function checkRole(role: unknown): Role {
  const known = ROLES.find((one) => one === role);
  if (known !== undefined) return known;
  throw invalid("dashboard.role", `one of ${ROLES.join(", ")}, or a function`, role);
}

function checkPath(path: unknown): string {
  if (typeof path === "string" && /^(\/[\w.~-]+)*\/?$/.test(path) && path !== "") {
    return path.replace(/\/$/, "");
  }
  throw invalid("dashboard.basePath", "a path such as /ops/queues", path);
}
