/**
 * The part that is done, 0 to 1, of a progress that says so: a number up to 1 or of a hundred,
 * `{ percent }`, or `{ done, total }`. Undefined for anything else.
 */
export function shareDone(progress: unknown): number | undefined {
  if (typeof progress === "number") return clamp(progress > 1 ? progress / 100 : progress);
  if (typeof progress !== "object" || progress === null) return undefined;
  const { percent, done, current = done, total } = progress as Record<string, unknown>;
  if (typeof percent === "number") return clamp(percent / 100);
  if (typeof current !== "number" || typeof total !== "number" || total <= 0) return undefined;
  return clamp(current / total);
}

const clamp = (share: number): number => Math.min(1, Math.max(0, share));
