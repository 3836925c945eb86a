import { createHash } from "node:crypto";

/**
 * One text for all parameters that mean the same: keys sorted, spaces collapsed, what is empty left
 * out.
 */
export function normalise(value: unknown): string {
  return JSON.stringify(plain(value)) ?? "";
}

/** Keys of a fixed length: a query may be longer than a dedupe key. */
export function taskKey(indexerId: string, params: unknown): string {
  const hash = createHash("sha256").update(`${indexerId}\n${normalise(params)}`);
  return hash.digest("base64url");
}

function plain(value: unknown): unknown {
  if (typeof value === "string") return value.trim().replace(/\s+/g, " ") || undefined;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, plain(item)] as const);
  return Object.fromEntries(
    entries.filter(([, item]) => item !== undefined).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}
