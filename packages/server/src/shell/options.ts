import { type Clock, invalid, SluiceError } from "@sluice/protocol";
import type { AppPage } from "../app-page.ts";
import { BODY_BYTES_HARD_MAX, LIMITS, type Limits } from "../limits.ts";
import type { TlsOptions } from "./listener.ts";
import type { LogLevel, LogOptions } from "./log.ts";
import { isLoopback } from "./origin.ts";

/** Options of every HTTP server here, the broker's and an app's alike. */
export interface ShellOptions {
  /** Default 127.0.0.1: only this machine can reach it. */
  host?: string | undefined;
  /** 0: any that is free. */
  port?: number | undefined;
  tls?: TlsOptions | undefined;
  /** Serve an address that others can reach without asking for keys. */
  insecure?: boolean | undefined;
  /** Names that it answers to in a Host header, beside its own addresses. */
  hosts?: readonly string[] | undefined;
  /** Origins of pages that may call it, beside its own. */
  origins?: readonly string[] | undefined;
  limits?: Partial<Limits> | undefined;
  log?: LogLevel | LogOptions | undefined;
  /** Its source of time; a test passes its own. */
  clock?: Clock | undefined;
  /** Shown on the dashboard. */
  pages?: readonly AppPage[] | undefined;
}

const PORT_MAX = 65_535;

export function parseLimits(given: Partial<Limits> = {}): Limits {
  const limits = { ...LIMITS };
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(LIMITS, name)) {
      throw invalid(`limits.${name}`, `one of ${Object.keys(LIMITS).join(", ")}`, name);
    }
    if (value === undefined) continue;
    if (typeof value !== "number" || !(value > 0)) {
      throw invalid(`limits.${name}`, "a number above 0", value);
    }
    Object.assign(limits, { [name]: value });
  }
  if (limits.bodyBytesMax > BODY_BYTES_HARD_MAX) {
    const wanted = `at most ${BODY_BYTES_HARD_MAX}`;
    throw invalid("limits.bodyBytesMax", wanted, limits.bodyBytesMax);
  }
  if (limits.bodiesBytesMax < 2 * limits.bodyBytesMax) {
    const wanted = `at least twice bodyBytesMax (${2 * limits.bodyBytesMax})`;
    throw invalid("limits.bodiesBytesMax", wanted, limits.bodiesBytesMax);
  }
  return limits;
}

/** An address that others can reach is served with keys, or with `insecure`. */
export function checkAddress(options: ShellOptions, hasKeys: boolean): void {
  const { host = "127.0.0.1", port = 0, insecure = false } = options;
  if (typeof host !== "string" || host === "") throw invalid("host", "an address", host);
  if (!Number.isInteger(port) || port < 0 || port > PORT_MAX) {
    throw invalid("port", `a number from 0 to ${PORT_MAX}`, port);
  }
  if (isLoopback(host) || hasKeys || insecure) return;
  const message =
    `${host} can be reached from outside: turn keys on, ` +
    "or say insecure if everybody who can reach it may do everything";
  throw new SluiceError("INVALID", message, { field: "host", value: host });
}
