import {
  type Clock,
  knownFields,
  type LimitSettings,
  SERVER_OPTIONS,
  SluiceError,
} from "@sluice/protocol";
import type { AppPage } from "../app-page.ts";
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
  allowHosts?: readonly string[] | undefined;
  /** Origins of pages that may call it, beside its own. */
  allowOrigins?: readonly string[] | undefined;
  limits?: LimitSettings | undefined;
  log?: LogLevel | LogOptions | undefined;
  /** Its source of time; a test passes its own. */
  clock?: Clock | undefined;
  /**
   * Words of an answer to a request that could not be read; `head` is its beginning. Undefined: as
   * everywhere, in JSON.
   */
  broken?: ((broken: BrokenRequest) => BrokenAnswer | undefined) | undefined;
  /** Shown on the dashboard. */
  pages?: readonly AppPage[] | undefined;
}

const SHELL: Readonly<Record<keyof ShellOptions, true>> = {
  host: true,
  port: true,
  tls: true,
  insecure: true,
  allowHosts: true,
  allowOrigins: true,
  limits: true,
  log: true,
  clock: true,
  broken: true,
  pages: true,
};

/** Refuses an option that a server does not have; `own`: those beside the ones of every server. */
export function checkKnown<O extends ShellOptions>(
  name: string,
  options: O,
  own: Readonly<Record<Exclude<keyof O, keyof ShellOptions>, true>>,
): void {
  knownFields(name, options, Object.keys({ ...own, ...SHELL }));
}

export interface BrokenRequest {
  readonly status: number;
  readonly message: string;
  /** As far as it was read: `GET /api?t=...`. */
  readonly head: string;
}

export interface BrokenAnswer {
  readonly type: string;
  readonly body: string;
}

/** An address that others can reach is served with keys, or with `insecure`. */
export function checkAddress(options: ShellOptions, hasKeys: boolean): void {
  const { host = "127.0.0.1", port = 0, insecure = false } = options;
  SERVER_OPTIONS.host.kind.parse("host", host);
  SERVER_OPTIONS.port.kind.parse("port", port);
  if (isLoopback(host) || hasKeys || insecure) return;
  const message =
    `no API keys on ${host}: anyone who can connect would have full access. ` +
    "Turn keys on (--keys), or accept it (--insecure)";
  throw new SluiceError("INVALID", message, { field: "host", value: host });
}
