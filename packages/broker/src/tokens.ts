import { SluiceError } from "@sluice/protocol";

/**
 * How jobs and leases are called outside. A job's id is the engine's count in base 36, led by its
 * length, so that ids sort as text in the order in which they were given. The token of a lease is
 * the job's id and the number of the delivery.
 */
const BASE = 36;

export function idOf(job: number): string {
  const digits = job.toString(BASE);
  return String.fromCharCode(96 + digits.length) + digits;
}

export function parseId(id: unknown): number {
  const job = typeof id === "string" ? jobOf(id) : 0;
  if (job !== 0) return job;
  throw new SluiceError("JOB_NOT_FOUND", `there is no job ${show(id)}`, { field: "id", value: id });
}

export function tokenOf(job: number, lease: number): string {
  return `${idOf(job)}.${lease.toString(BASE)}`;
}

export interface Token {
  job: number;
  lease: number;
}

export function parseToken(token: unknown): Token {
  if (typeof token === "string") {
    const dot = token.indexOf(".");
    const job = dot === -1 ? 0 : jobOf(token.slice(0, dot));
    const lease = dot === -1 ? 0 : numberOf(token.slice(dot + 1));
    if (job !== 0 && lease !== 0) return { job, lease };
  }
  const message = `lease must be the token of a lease, got ${show(token)}`;
  throw new SluiceError("INVALID", message, { field: "lease", value: token });
}

/** 0 when it is no id: ids begin with 1. */
function jobOf(id: string): number {
  const length = id.charCodeAt(0) - 96;
  return length === id.length - 1 ? numberOf(id.slice(1)) : 0;
}

/** 0 when it is not how a number is written here. */
function numberOf(digits: string): number {
  const value = Number.parseInt(digits, BASE);
  const isExact = Number.isSafeInteger(value) && value > 0 && value.toString(BASE) === digits;
  return isExact ? value : 0;
}

function show(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, 64)) : typeof value;
}
