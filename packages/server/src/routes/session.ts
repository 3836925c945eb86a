/**
 * A browser's login. The key is in a cookie that no script can read and that no other site's page
 * makes a browser send; every request is checked with it as with a key in its header.
 */
import type { Session, SessionGrant } from "@sluice/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { cookieName } from "../shell/session-cookie.ts";
import { route } from "./route.ts";
import { about, answers, DONE, FLAG, list, maybe, shape, TEXT } from "./shapes.ts";

export interface SessionOptions {
  readonly hasKeys: boolean;
  /** Whether there is a broker behind it, or only an app. */
  readonly hasBroker: boolean;
  readonly isTls: boolean;
  /** Whether callers are users of another server, known by their names. */
  readonly hasUsers?: boolean;
  readonly hasWebhooks?: boolean;
}

const SESSION = shape<Session>({
  hasKeys: about("Whether callers are asked for a key.", FLAG),
  hasBroker: about("False: an app's own server.", FLAG),
  hasWebhooks: maybe(about("Whether webhooks can be made.", FLAG)),
  grants: list(shape<SessionGrant>({ action: TEXT, on: TEXT, gates: maybe(list(TEXT)) })),
  user: maybe(about("Who is logged in, behind the login of another server.", TEXT)),
  isReadOnly: about("Whether whatever changes something is refused.", FLAG),
});

export function sessionRoutes(app: FastifyInstance, options: SessionOptions): void {
  const { hasKeys, hasBroker, isTls, hasUsers = false, hasWebhooks = false } = options;
  route(app, "GET /v1/session", {
    about: ["getSession", "session", "What the caller may do"],
    response: answers(SESSION),
    handler: async ({ principal }): Promise<Session> => {
      principal.charge();
      const { id, isReadOnly = false } = principal;
      const user = hasUsers ? { user: id } : {};
      const grants = principal.grants();
      return { hasKeys, hasBroker, hasWebhooks, grants, isReadOnly, ...user };
    },
  });
  const login = "Log a browser in: the key of this request is kept in a cookie";
  route(app, "POST /v1/session", {
    about: ["login", "session", login],
    response: DONE,
    handler: async (request, reply) => {
      const [, key] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? "") ?? [];
      if (key !== undefined && hasKeys) setCookie(request, reply, encodeURIComponent(key), isTls);
      return reply.code(204).send();
    },
  });
  route(app, "DELETE /v1/session", {
    about: ["logout", "session", "Log a browser out"],
    // No key is asked for, so no body is taken.
    bodyLimit: 1,
    config: { isPublic: true },
    response: DONE,
    handler: async (request, reply) => {
      setCookie(request, reply, "; Max-Age=0", isTls);
      return reply.code(204).send();
    },
  });
}

function setCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  value: string,
  isTls: boolean,
): void {
  const secure = isTls ? "; Secure" : "";
  const flags = `Path=/; HttpOnly; SameSite=Strict${secure}`;
  reply.header("set-cookie", `${cookieName(request.raw)}=${value}; ${flags}`);
}
