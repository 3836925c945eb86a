import type { JobFilter as EngineFilter } from "@sluice/engine";
import { invalid, type JobFilter } from "@sluice/protocol";
import type { Body } from "./codec/body.ts";

/** A filter as the engine has it; what is in payloads and headers it does not know. */
export function engineFilter(filter: JobFilter): EngineFilter {
  const { queues, states, lane, origin, time, since, until, error, gate, group } = filter;
  const failure = filter.failure === undefined ? undefined : Number.parseInt(filter.failure, 36);
  const { attempts } = filter;
  return {
    ...{ queues, states, key: lane, origin, time, since, until },
    ...{ error, failure, gate, group, attempts },
  };
}

/** The id of a failure as callers have it. */
export function failureId(failure: number): string {
  return failure.toString(36);
}

/** What must hold of a job's payload and headers; undefined: nothing. */
export type BodyTest = (body: Body) => boolean;

export function bodyTest({ header, text }: JobFilter): BodyTest | undefined {
  if (header === undefined && text === undefined) return undefined;
  const needle = text === undefined ? undefined : Buffer.from(text);
  const at = header?.indexOf("=") ?? -1;
  const name = at === -1 ? header : header!.slice(0, at);
  if (name === "") throw invalid("header", "`name` or `name=value`", header);
  const value = at === -1 ? undefined : header!.slice(at + 1);
  return ({ headers, payload }) => {
    if (name !== undefined && !Object.hasOwn(headers, name)) return false;
    if (value !== undefined && headers[name!] !== value) return false;
    return needle === undefined || asBuffer(payload).includes(needle);
  };
}

function asBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

/** Bytes of a payload that its preview is made of, and the characters that it has. */
const PREVIEW_BYTES = 640;
const PREVIEW_CHARS = 160;

/** How a payload begins, as text. */
export function previewOf(payload: Uint8Array): string {
  const start = asBuffer(payload).toString("utf8", 0, Math.min(payload.length, PREVIEW_BYTES));
  return [...start.slice(0, 2 * PREVIEW_CHARS)].slice(0, PREVIEW_CHARS).join("");
}
