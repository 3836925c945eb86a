/**
 * The dashboard inside another HTTP server. A request takes the same way as one to a server of
 * Sluice (shell, guard, routes); in place of a key, the other server says who makes it.
 *
 *   your server ─▶ basePath is taken off the address ─▶ shell: origin, `user`, `role` ─▶ routes
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Broker, type Clock, type SluiceError, SystemClock } from "@sluice/protocol";
import type { FastifyInstance } from "fastify";
import { openAudit } from "../audit/caller.ts";
import { BrokerAccess } from "../broker-access.ts";
import { brokerRoutes } from "../broker-routes.ts";
import { every } from "../every.ts";
import { EVERYTHING } from "../keys/grant.ts";
import { type Principal, unauthorized } from "../keys/principal.ts";
import { USER_ASKED_MS } from "../limits.ts";
import { newShell } from "../shell/shell.ts";
import { checkOptions, checkRole, type DashboardOptions } from "./options.ts";
import { answerWeb } from "./web.ts";

export interface Dashboard<R> {
  /** For `node:http` and Express; `next` gets requests outside of `basePath`. */
  (request: IncomingMessage, response: ServerResponse, next?: () => void): void;
  /** For Fastify, to be registered. */
  readonly fastify: (app: FastifyInstance) => Promise<void>;
  /** For Hono, and every server of `Request` and `Response`; `user` gets `context`, if given. */
  readonly fetch: (request: Request, context?: R) => Promise<Response>;
  /** Ends what is under way. The broker stays open. */
  close(): Promise<void>;
}

export function mountDashboard<R = IncomingMessage>(
  broker: Broker,
  options: DashboardOptions<R>,
): Dashboard<R> {
  const base = checkOptions(options);
  const { pages, allowOrigins, log = "warn", clock = new SystemClock() } = options;
  /** What `user` is asked about: the request as the server around us knows it. */
  const requests = new WeakMap<IncomingMessage, R>();
  const access = new BrokerAccess({ broker, clock }, false, undefined);
  const shell = newShell(
    { allowOrigins, log, clock },
    {
      hasKeys: true,
      verify: (key) => access.verify(key),
      caller: (raw) => callerOf(options, clock, requests.get(raw) ?? (raw as R)),
    },
  );
  const { app } = shell;
  const audit = openAudit(shell, access);
  const openRoutes = async (): Promise<void> => {
    brokerRoutes(shell, access, { pages, hasUsers: true, audit });
    await app.ready();
  };
  const ready = openRoutes();
  // Told to everyone who asks for the page.
  ready.catch(() => {});
  const handle = (raw: IncomingMessage, response: ServerResponse): void => {
    ready.then(
      () => app.routing(raw, response),
      (error) => response.destroy(error),
    );
  };
  const dashboard = (raw: IncomingMessage, response: ServerResponse, next?: () => void): void => {
    const path = pathWithin(base, originalUrl(raw));
    if (path === undefined && next !== undefined) return next();
    if (path === "") return redirect(response, base);
    // An address outside of the base path has no route.
    raw.url = path ?? "/-";
    handle(raw, response);
  };
  const note = (raw: IncomingMessage, request: R | undefined): void => {
    if (request !== undefined) requests.set(raw, request);
  };
  return Object.assign(dashboard, {
    fastify: async (outer: FastifyInstance) =>
      register(outer, base, (request: R & { raw: IncomingMessage }, response) => {
        note(request.raw, request);
        dashboard(request.raw, response);
      }),
    fetch: async (request: Request, context?: R) =>
      answerWeb(request, (raw, response) => {
        note(raw, context ?? (request as R));
        dashboard(raw, response);
      }),
    close: async () => app.close(),
  });
}

async function callerOf<R>(
  { user, role = "read-only" }: DashboardOptions<R>,
  clock: Clock,
  request: R,
): Promise<Principal> {
  const name = await user(request);
  if (typeof name !== "string" || name === "") throw loggedOut();
  const isReadOnly =
    checkRole(typeof role === "function" ? await role(name, request) : role) === "read-only";
  let isHere = true;
  const grants = (): typeof EVERYTHING => {
    if (isHere) return EVERYTHING;
    throw loggedOut();
  };
  // A stream of events is one request that lasts: it ends soon after its user has logged out.
  const watch = (look: () => void): (() => void) =>
    every(clock, USER_ASKED_MS, async () => {
      isHere &&= await Promise.resolve(user(request)).then(
        (now) => now === name,
        () => false,
      );
      if (!isHere) look();
    });
  return { id: name, isReadOnly, grants, charge: () => {}, watch };
}

function loggedOut(): SluiceError {
  return unauthorized("no user is logged in: log in at the server that shows this page");
}

/** Express takes the path that a handler is mounted at off the address, and keeps the whole. */
function originalUrl(raw: IncomingMessage & { originalUrl?: string }): string {
  return raw.originalUrl ?? raw.url ?? "/";
}

/** The address below the base path; empty: its own, without a slash; undefined: it is elsewhere. */
function pathWithin(base: string, url: string): string | undefined {
  if (!url.startsWith(base)) return undefined;
  const rest = url.slice(base.length);
  if (rest.startsWith("/")) return rest;
  return rest === "" || rest.startsWith("?") ? "" : undefined;
}

/** The page names its files from where it is, so its address ends with a slash. */
function redirect(response: ServerResponse, base: string): void {
  // Relative: a proxy may have taken off the beginning of the path.
  const location = `./${base.slice(base.lastIndexOf("/") + 1)}/`;
  response.writeHead(308, { location, "cache-control": "no-store" }).end();
}

/** Bodies are left unread: they are read here, within the limits of each route. */
function register<R extends { raw: IncomingMessage }>(
  outer: FastifyInstance,
  base: string,
  handle: (request: R, response: ServerResponse) => void,
): void {
  outer.removeAllContentTypeParsers();
  outer.addContentTypeParser("*", (_request, _payload, done) => done(null));
  const path = base.startsWith(outer.prefix) ? base.slice(outer.prefix.length) : base;
  for (const url of path === "" ? ["/", "/*"] : [path, `${path}/*`]) {
    outer.all(url, (request, reply) => {
      reply.hijack();
      handle(request as unknown as R, reply.raw);
    });
  }
}
