import { RETRY_AFTER_MS_MAX } from "../limits.ts";

const TIME = String.raw`\d{2}:\d{2}:\d{2}`;

/** HTTP's three forms, the second and third of them old, and the one that JSON APIs write. */
const DATES = [
  String.raw`[a-z]{3}, \d{1,2} [a-z]{3} \d{4} ${TIME} (?:GMT|UTC|[+-]\d{4})`,
  String.raw`[a-z]{6,9}, \d{2}-[a-z]{3}-\d{2} ${TIME} GMT`,
  String.raw`[a-z]{3} [a-z]{3} [ \d]\d ${TIME} \d{4}`,
  String.raw`\d{4}-\d{2}-\d{2}T${TIME}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})`,
];
const DATE = new RegExp(`^(?:${DATES.join("|")})$`, "i");
const HAS_ZONE = /(?:GMT|UTC|Z|[+-]\d{2}:?\d{2})$/i;

/**
 * HTTP's `Retry-After` in milliseconds: seconds or a date, and never more than a day. In the past
 * counts as 0; nonsense as nothing said (`Date.parse` alone would read a year out of any words).
 */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Number(text) * 1_000, RETRY_AFTER_MS_MAX);
  if (!DATE.test(text)) return undefined;
  const time = Date.parse(HAS_ZONE.test(text) ? text : `${text} GMT`);
  if (!Number.isFinite(time)) return undefined;
  return Math.min(Math.max(0, time - now), RETRY_AFTER_MS_MAX);
}
