/**
 * Who may talk to the server from a browser. A page of another origin can make a browser send
 * requests to a server on this machine; and a name that its owner points at 127.0.0.1 makes such a
 * page look like our own. So a request must name a host that is ours, and if it names an origin it
 * must be the server's own, or one that the operator has listed.
 */
import type { IncomingMessage } from "node:http";
import { isIP, isIPv4 } from "node:net";
import { SluiceError } from "@sluice/protocol";

export interface OriginRules {
  /** Names that the server answers to beside its own addresses; without keys these alone. */
  hosts: readonly string[];
  /** Origins of other pages that may call, such as `https://ops.example.org`. */
  origins: readonly string[];
  /** With keys a stranger's page can do nothing, so any name will do unless some are listed. */
  hasKeys: boolean;
  isLoopback: boolean;
  /** Undefined: TLS may end at a proxy before us, so that both schemes are our own. */
  isTls: boolean | undefined;
}

/** Of a header that is refused, what the message repeats. */
const SHOWN_CHARS = 100;

const LOCAL = ["localhost", "127.0.0.1", "[::1]"];

/** Refuses with FORBIDDEN what a stranger's page may have sent. */
export function checkOrigin(request: IncomingMessage, rules: OriginRules): void {
  const host = request.headers.host;
  if (host === undefined || !isOurs(nameOf(host), rules)) {
    const name = JSON.stringify((host ?? "").slice(0, SHOWN_CHARS));
    throw refused("host", host, `the host name ${name} is not allowed: add it to allowHosts`);
  }
  const { origin } = request.headers;
  if (origin !== undefined) checkHeader(origin, host, rules);
  if (origin !== undefined && rules.isTls !== undefined) return;
  const site = request.headers["sec-fetch-site"];
  const isForeign = site === "cross-site" || site === "same-site";
  if (isForeign && request.headers["sec-fetch-mode"] !== "navigate") {
    throw refused(
      "sec-fetch-site",
      site,
      "this server does not allow calls from pages of other sites",
    );
  }
}

function checkHeader(origin: string, host: string, { origins, isTls }: OriginRules): void {
  const schemes = isTls === undefined ? ["http", "https"] : [isTls ? "https" : "http"];
  const own = schemes.map((scheme) => `${scheme}://${host}`.toLowerCase());
  if (own.includes(origin.toLowerCase()) || origins.includes(origin)) return;
  const from = origin.slice(0, SHOWN_CHARS);
  const message = `this server does not allow calls from pages of ${from}: add it to allowOrigins`;
  throw refused("origin", origin, message);
}

function isOurs(name: string, { hosts, hasKeys, isLoopback }: OriginRules): boolean {
  if (LOCAL.includes(name) || hosts.includes(name)) return true;
  if (hasKeys) return hosts.length === 0;
  // An address cannot be made to point elsewhere; on loopback no other one can reach us anyway.
  return !isLoopback && isIP(name.replace(/^\[|\]$/g, "")) !== 0;
}

/** The name in a Host header, without the port. */
function nameOf(host: string): string {
  return host.replace(/:\d+$/, "").toLowerCase();
}

function refused(field: string, value: unknown, message: string): SluiceError {
  const shown = typeof value === "string" ? value.slice(0, SHOWN_CHARS) : undefined;
  return new SluiceError("FORBIDDEN", message, { field, value: shown });
}

/** Whether only this machine can reach an address. A name such as `127.example.org` is not one. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}
