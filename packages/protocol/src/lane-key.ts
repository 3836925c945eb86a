import type { FairnessKey } from "./job.ts";

/**
 * A lane in an address: the key itself, or JSON for what it cannot say: `["acme","user-7"]` is a
 * path, and `"[x]"` is the one level that begins with a bracket.
 */
export function parseLaneKey(text: string): FairnessKey {
  if (!text.startsWith("[") && !text.startsWith('"')) return text;
  try {
    const key: unknown = JSON.parse(text);
    if (typeof key === "string") return key;
    if (Array.isArray(key) && key.every((level) => typeof level === "string")) return key;
  } catch {
    // Then it is a key that happens to begin like JSON.
  }
  return text;
}
