/**
 * What every HTTP server here has in common. The life of a request, and where it may end:
 *
 *   connection   too many, or too slow                         closed
 *   onRequest    a stranger's page                             403 FORBIDDEN
 *                an address or a method that there is not      404 NOT_FOUND, body unread
 *                a compressed body                             415 UNSUPPORTED_MEDIA
 *                more adds than the server may take    429 RATE_LIMITED, body unread
 *                no key, a wrong or a revoked one              401 UNAUTHORIZED
 *   parsing      too large for its route, not JSON             413, 400, 415
 *                all bodies together are too large             429 RATE_LIMITED
 *   validation   against the route's schema                    400 INVALID
 *   handler      whatever the port refuses                     its own code
 *   anything     unexpected                                    500 INTERNAL, and a log entry
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  type Clock,
  parseLimits,
  type ServerLimits,
  SluiceError,
  SystemClock,
} from "@sluice/protocol";
import {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  fastify,
} from "fastify";
import type { Logger } from "pino";
import { BodyBudget } from "../body/body-budget.ts";
import { type BodyShape, parseBody, parseWhole } from "../body/parse-body.ts";
import { readBody } from "../body/read-body.ts";
import { KeyFailures } from "../keys/key-failures.ts";
import { ANYONE, type Principal } from "../keys/principal.ts";
import { BODY_BYTES_SMALL_MAX, PARAM_CHARS_MAX } from "../limits.ts";
import { tooManyAdds } from "../request-bucket.ts";
import { answerBroken } from "./broken.ts";
import { sendError, toAnswer } from "./errors.ts";
import { newServer } from "./listener.ts";
import { openLog } from "./log.ts";
import type { ShellOptions } from "./options.ts";
import { checkOrigin, isLoopback, type OriginRules } from "./origin.ts";
import { keyOfCookie } from "./session-cookie.ts";
import { newValidator } from "./validate.ts";

declare module "fastify" {
  interface FastifyRequest {
    principal: Principal;
    response: ServerResponse;
  }
  interface FastifyContextConfig {
    /** No key is needed. */
    isPublic?: boolean;
    /** Refused early when the server takes no more adds. */
    isAdd?: boolean;
    /** How a body that may be large is read; without it bodies are parsed whole. */
    body?: BodyShape;
  }
}

export interface Gatekeeper {
  /** Whether callers are asked for keys. */
  readonly hasKeys: boolean;
  /** Whose key this is; refuses with UNAUTHORIZED. */
  verify(key: string | undefined): Principal;
  /** How long no adds are taken; 0: they are. */
  addsWaitMs?(): number;
  /** Who makes a request, for a page behind the login of another server; keys are not looked at. */
  caller?(request: IncomingMessage): Promise<Principal>;
}

export interface Shell {
  readonly app: FastifyInstance;
  readonly log: Logger;
  readonly limits: ServerLimits;
  readonly clock: Clock;
  /** Aborted when the server begins to close: calls that wait are answered. */
  readonly closing: AbortSignal;
  /** Whose key this is; wrong ones are counted by the address that they come from. */
  verify(key: string | undefined, address: string): Principal;
  /** Why an upgrade is refused: a stranger's page may have asked for it. */
  refuse(request: IncomingMessage): { status: number; message: string } | undefined;
}

export interface ShellParts {
  /** Connections come from threads, which have done with TLS. */
  readonly isThreaded?: boolean;
}

export function newShell(
  options: ShellOptions,
  gatekeeper: Gatekeeper,
  { isThreaded = false }: ShellParts = {},
): Shell {
  const limits = parseLimits(options.limits);
  const log = openLog(typeof options.log === "string" ? { level: options.log } : options.log);
  const rules = rulesOf(options, gatekeeper);
  const closing = new AbortController();
  const verify = verifier(gatekeeper, new KeyFailures(limits.keyFailuresPerMinute));
  const app = newApp(isThreaded ? { ...options, tls: undefined } : options, limits, log);
  // No promises: every request passes here.
  app.addHook("onRequest", (request, reply, done) => {
    const admit = (principal: Principal): void => {
      request.principal = principal;
      checkRole(request);
      if (request.method === "OPTIONS" && rules.origins.length > 0) reply.code(204).send();
      else done();
    };
    try {
      request.response = reply.raw;
      const { config } = request.routeOptions;
      enter(request, reply, rules, gatekeeper, config.isAdd === true);
      if (gatekeeper.caller !== undefined) gatekeeper.caller(request.raw).then(admit).catch(done);
      else admit(keyHolder(request, verify, config.isPublic === true));
    } catch (error) {
      done(error as Error);
    }
  });
  app.addHook("onResponse", (request, reply, done) => {
    logAnswer(log, request, reply);
    done();
  });
  app.addHook("preClose", async () => closing.abort());
  return {
    app,
    log,
    limits,
    clock: options.clock ?? new SystemClock(),
    closing: closing.signal,
    verify,
    refuse: (request) => refusal(request, rules),
  };
}

function rulesOf(options: ShellOptions, { hasKeys, caller }: Gatekeeper): OriginRules {
  const { allowHosts = [], allowOrigins = [], host, tls } = options;
  return {
    hosts: allowHosts.map((name) => name.toLowerCase()),
    origins: allowOrigins,
    hasKeys,
    isLoopback: isLoopback(host ?? "127.0.0.1"),
    isTls: caller === undefined ? tls !== undefined : undefined,
  };
}

/** Named at once and not set later: else fastify loads compilers of its own, 20 ms of a start. */
const COMPILERS = {
  compilersFactory: {
    buildValidator: () => newValidator(),
    buildSerializer: () => () => JSON.stringify,
  },
} as unknown as NonNullable<FastifyServerOptions["schemaController"]>;

function newApp({ tls, broken }: ShellOptions, limits: ServerLimits, log: Logger): FastifyInstance {
  const app = fastify({
    serverFactory: (listener) => newServer(listener, limits, tls),
    bodyLimit: Math.min(BODY_BYTES_SMALL_MAX, limits.bodyBytesMax),
    exposeHeadRoutes: false,
    forceCloseConnections: "idle",
    routerOptions: { maxParamLength: PARAM_CHARS_MAX },
    frameworkErrors: (error, _, reply) => sendError(reply as FastifyReply, toAnswer(error)),
    clientErrorHandler: (error, socket) => answerBroken(error, socket, broken),
    schemaController: COMPILERS,
  });
  readJson(app, limits);
  app.decorateRequest("principal");
  app.decorateRequest("response");
  app.setNotFoundHandler((request, reply) => sendError(reply, noRoute(request)));
  app.setErrorHandler((error, request, reply) => {
    const answer = toAnswer(error);
    if (answer.cause !== undefined && answer.code.startsWith("LOG_")) log.error({ err: error });
    if (answer.code !== "INTERNAL") return sendError(reply, answer);
    log.error({ err: error, request: request.id, route: request.routeOptions.url }, "unexpected");
    const message = `internal error; search the server's log for ${request.id}`;
    return sendError(reply, new SluiceError("INTERNAL", message));
  });
  return app;
}

/** Bodies are JSON, each within the limit of its route and all within the budget. */
function readJson(app: FastifyInstance, { bodyBytesMax, bodiesBytesMax }: ServerLimits): void {
  const budget = new BodyBudget(bodiesBytesMax);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", (request: FastifyRequest, _, done) => {
    const { bodyLimit, config } = request.routeOptions;
    const most = Math.min(bodyLimit, bodyBytesMax);
    readBody(request.raw, request.response, most, budget, (error, bytes) => {
      if (error !== undefined) return done(error);
      let body: unknown;
      try {
        body = config.body === undefined ? parseWhole(bytes) : parseBody(bytes, config.body);
      } catch (refusal) {
        return done(refusal as Error);
      }
      if (!(body instanceof Promise)) return done(null, body);
      body.then((value) => done(null, value), done);
    });
  });
}

function noRoute({ method }: FastifyRequest): SluiceError {
  const message = `there is no route ${method} at this address; /openapi.json lists all routes`;
  return new SluiceError("NOT_FOUND", message);
}

function refusal(request: IncomingMessage, rules: OriginRules): ReturnType<Shell["refuse"]> {
  try {
    checkOrigin(request, rules);
    return undefined;
  } catch (error) {
    const { status, message } = toAnswer(error);
    return { status, message };
  }
}

/** All that is decided before a body is read. */
function enter(
  request: FastifyRequest,
  reply: FastifyReply,
  rules: OriginRules,
  gatekeeper: Gatekeeper,
  isAdd: boolean,
): void {
  reply.header("x-content-type-options", "nosniff");
  reply.header("cache-control", "no-store");
  checkOrigin(request.raw, rules);
  if (rules.origins.length > 0) allowOrigin(request, reply, rules);
  // Before the body: a caller without a key must not make the server read one.
  const isAsked = request.method === "OPTIONS" && rules.origins.length > 0;
  if (request.is404 && !isAsked) throw noRoute(request);
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    throw new SluiceError(
      "UNSUPPORTED_MEDIA",
      "compressed bodies are not supported; send the body without content-encoding",
    );
  }
  const retryAfterMs = isAdd ? (gatekeeper.addsWaitMs?.() ?? 0) : 0;
  if (retryAfterMs > 0) throw tooManyAdds(retryAfterMs);
}

function keyHolder(request: FastifyRequest, verify: Shell["verify"], isPublic: boolean): Principal {
  const isFree = isPublic || request.method === "OPTIONS";
  return isFree ? ANYONE : verify(keyOf(request), request.ip);
}

/** Here and not call by call: only a request by GET changes nothing, whichever route it takes. */
function checkRole({ method, principal }: FastifyRequest): void {
  if (principal.isReadOnly !== true || method === "GET" || method === "OPTIONS") return;
  const message = `user ${principal.id} has the role read-only: ${method} needs the role full`;
  throw new SluiceError("FORBIDDEN", message, { needs: "full" });
}

function verifier(gatekeeper: Gatekeeper, failures: KeyFailures): Shell["verify"] {
  return (key, address) => {
    try {
      return gatekeeper.verify(key);
    } catch (error) {
      // A request without a key is no guess: a browser that has not logged in sends none.
      const isWrong = error instanceof SluiceError && error.code === "UNAUTHORIZED";
      if (isWrong && key !== undefined) failures.count(address);
      throw error;
    }
  };
}

function keyOf({ headers, raw }: FastifyRequest): string | undefined {
  const { authorization, "x-api-key": plain } = headers;
  const [, bearer] = /^Bearer +(\S+)$/i.exec(authorization ?? "") ?? [];
  return bearer ?? (typeof plain === "string" ? plain : keyOfCookie(raw));
}

function allowOrigin(request: FastifyRequest, reply: FastifyReply, rules: OriginRules): void {
  const { origin } = request.headers;
  if (origin === undefined || !rules.origins.includes(origin)) return;
  reply.header("access-control-allow-origin", origin);
  reply.header("access-control-allow-methods", "GET, PUT, POST, DELETE");
  reply.header("access-control-allow-headers", "authorization, content-type, idempotency-key");
  reply.header("vary", "origin");
}

function logAnswer(log: Logger, request: FastifyRequest, reply: FastifyReply): void {
  const { statusCode } = reply;
  const level = statusCode >= 500 ? "error" : isRefusal(statusCode) ? "warn" : "debug";
  if (!log.isLevelEnabled(level)) return;
  log[level]({
    request: request.id,
    method: request.method,
    route: request.routeOptions.url ?? "none",
    status: statusCode,
    ms: Math.round(reply.elapsedTime * 10) / 10,
    by: request.principal?.id,
    from: request.ip,
  });
}

function isRefusal(statusCode: number): boolean {
  return statusCode === 401 || statusCode === 403;
}
