/** HTTP's `Retry-After`: seconds or a date. In the past counts as 0; nonsense as nothing said. */
const MS_MAX = 24 * 3_600_000;

export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? "";
  if (/^\d{1,12}(\.\d{1,6})?$/.test(text)) return Math.min(Number(text) * 1_000, MS_MAX);
  if (!/[a-z]/i.test(text)) return undefined;
  const time = Date.parse(text);
  if (!Number.isFinite(time)) return undefined;
  return Math.min(Math.max(0, time - now), MS_MAX);
}
