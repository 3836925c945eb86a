/** Limits of a host as the user describes them: in the file, or to the API. */
import type { HostLimits } from "../scheduler/limits-of.ts";
import { durationMs, fieldsOf, invalid, whole, windowsOf } from "./fields.ts";

export interface HostInput {
  /** As in an address: `tracker.example` or `127.0.0.1:9696`. */
  readonly host: string;
  readonly limits: HostLimits;
}

const DAY_MS = 86_400_000;
const CONCURRENCY_MAX = 1_000;
const LIMITS = ["interval", "windows", "concurrency"] as const;

/** An entry of the file. */
export function parseHost(field: string, value: unknown): HostInput {
  const { host, ...limits } = fieldsOf(field, value, ["host", ...LIMITS]);
  return { host: hostName(`${field}.host`, host), limits: parseHostLimits(field, limits) };
}

export function parseHostLimits(field: string, value: unknown): HostLimits {
  const { interval, windows, concurrency } = fieldsOf(field, value, LIMITS);
  if (interval === undefined && windows === undefined && concurrency === undefined) {
    throw invalid(field, `given a limit (${LIMITS.join(", ")})`, value);
  }
  const at = `${field}.concurrency`;
  return {
    ...(interval === undefined
      ? {}
      : { interval: durationMs(`${field}.interval`, interval, DAY_MS) }),
    ...(windows === undefined ? {} : { windows: windowsOf(`${field}.windows`, windows) }),
    ...(concurrency === undefined
      ? {}
      : { concurrency: whole(at, concurrency, 1, CONCURRENCY_MAX) }),
  };
}

/** In the spelling of an address: lower case, and without the usual port. */
export function hostName(field: string, value: unknown): string {
  const wanted = "a host such as tracker.example or 127.0.0.1:9696";
  if (typeof value !== "string" || value.length > 255 || /[\s/?#@\\]/.test(value)) {
    throw invalid(field, wanted, value);
  }
  const address = `http://${value}`;
  if (!URL.canParse(address)) throw invalid(field, wanted, value);
  return new URL(address).host;
}
