import { SluiceError, shown } from "@sluice/protocol";

/**
 * The names of jobs outside. A job's id is the engine's count in base 36, led by its length: ids
 * sort as text in the order in which they were given.
 */
const BASE = 36;
const DIGITS_MAX = Number.MAX_SAFE_INTEGER.toString(BASE).length;
const ZERO = "0".charCodeAt(0);
const LETTER_A = "a".charCodeAt(0);

export function idOf(job: number): string {
  const digits = job.toString(BASE);
  return String.fromCharCode(96 + digits.length) + digits;
}

export function parseId(id: unknown): number {
  const job = typeof id === "string" ? jobAt(id, id.length) : 0;
  if (job !== 0) return job;
  throw new SluiceError("JOB_NOT_FOUND", `there is no job ${shown(id)}`, {
    field: "id",
    value: id,
  });
}

/** The job whose id ends before `end`; 0 when it is no id: ids begin with 1. */
export function jobAt(id: string, end: number): number {
  return id.charCodeAt(0) - 96 === end - 1 ? numberAt(id, 1, end) : 0;
}

/** 0 when it is not how a number is written here: in full, and with no zero before it. */
export function numberAt(text: string, from: number, end: number): number {
  if (end - from > DIGITS_MAX || text.charCodeAt(from) === ZERO) return 0;
  let value = 0;
  for (let i = from; i < end; i++) {
    const digit = digitOf(text.charCodeAt(i));
    if (digit === -1) return 0;
    value = value * BASE + digit;
  }
  return value <= Number.MAX_SAFE_INTEGER ? value : 0;
}

function digitOf(code: number): number {
  if (code >= ZERO && code <= ZERO + 9) return code - ZERO;
  return code >= LETTER_A && code < LETTER_A + 26 ? code - LETTER_A + 10 : -1;
}
