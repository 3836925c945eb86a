/** Payloads as text. Whatever shows it escapes it: it is never taken for markup. */

export interface Carried {
  payload?: unknown;
  payloadBase64?: string;
  payloadBytes: number;
  isPayloadOmitted?: boolean;
}

const LINE_CHARS = 120;
const PRETTY_CHARS = 50_000;

/** In one line, cut where a table has no more room. */
export function previewLine(carried: Carried): string {
  if (carried.isPayloadOmitted === true) return "(too large to list)";
  if (carried.payloadBase64 !== undefined)
    return cut(`base64 ${carried.payloadBase64}`, LINE_CHARS);
  return cut(JSON.stringify(carried.payload) ?? "", LINE_CHARS);
}

export function pretty(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value) : JSON.stringify(value, null, 2);
  return cut(text ?? "", PRETTY_CHARS);
}

export function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars)}…`;
}
