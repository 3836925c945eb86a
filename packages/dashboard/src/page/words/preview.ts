/** Payloads as text. Whatever shows it escapes it: it is never taken for markup. */
import type { JobJson } from "@sluice/protocol";
import { LINE_CHARS, PRETTY_CHARS } from "../limits.ts";
import { visible } from "./visible.ts";

export type Carried = Pick<
  JobJson,
  "payload" | "payloadBase64" | "payloadStart" | "payloadStartBase64"
>;

/** In one line, cut where a table has no more room. */
export function previewLine(carried: Carried): string {
  const { payload, payloadBase64, payloadStart, payloadStartBase64 } = carried;
  const base64 = payloadBase64 ?? payloadStartBase64;
  if (base64 !== undefined) return cut(`base64 ${base64}`, LINE_CHARS);
  if (payloadStart !== undefined) return visible(`${payloadStart.slice(0, LINE_CHARS)}…`);
  return visible(cut(JSON.stringify(payload) ?? "", LINE_CHARS));
}

export function pretty(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value) : JSON.stringify(value, null, 2);
  return visible(cut(text ?? "", PRETTY_CHARS));
}

/** Bytes that are no JSON, or the beginning of what is long. */
export function plainBody(text: string): string {
  return visible(cut(text, PRETTY_CHARS));
}

export function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars)}…`;
}
