/** Whether a person or a program makes a request. */
import type { FastifyRequest } from "fastify";
import type { BrokerAccess } from "../broker-access.ts";
import { keyOfCookie } from "../shell/session-cookie.ts";
import type { Shell } from "../shell/shell.ts";
import { type AuditCaller, AuditLog, type Via } from "./audit-log.ts";

/** How the command line calls itself, in its greeting and as its user agent. */
const COMMAND_CLIENT = "sluice command";

export function openAudit({ clock, closing, log }: Shell, access: BrokerAccess): AuditLog {
  const onTrouble = (message: string): void => log.warn(message);
  return new AuditLog({ ready: () => access.ready(), clock, closing, onTrouble });
}

export function callerOf({ principal, raw }: FastifyRequest, hasUsers: boolean): AuditCaller {
  const { headers } = raw;
  // What browsers add by themselves. Node's fetch adds `sec-fetch-mode` alone.
  const isBrowser =
    headers["sec-fetch-site"] !== undefined ||
    headers.origin !== undefined ||
    keyOfCookie(raw) !== undefined;
  if (hasUsers || isBrowser) return { principal, via: "page" };
  return { principal, via: headers["user-agent"] === COMMAND_CLIENT ? "command" : "http" };
}

export function viaOfClient(client: string | undefined): Via {
  return client === COMMAND_CLIENT ? "command" : "stream";
}
