/** What a worker says of the jobs that it holds: batches of tokens, and what goes with each. */
import { parseDuration } from "../duration.ts";
import type { Ack, Extend, Nack } from "../job.ts";
import { isObject } from "../kinds.ts";
import { BATCH_MAX, SMALL_CALL_BYTES_MAX } from "../limits.ts";
import type { JsonBound } from "./json-bound.ts";
import type { FrameReader } from "./reader.ts";
import type { FrameWriter } from "./writer.ts";

const RESULTS = 1;

/** Before a result: there is none. */
const NO_RESULT = 0xffff_ffff;

export function writeAcks(writer: FrameWriter, items: readonly Ack[]): void {
  const hasResults = items.some((item) => item?.result !== undefined);
  writer.u8(hasResults ? RESULTS : 0);
  writer.u32(items.length);
  for (const item of items) {
    writer.short(tokenOf(item));
    if (!hasResults) continue;
    if (item.result instanceof Uint8Array) writer.blob(item.result);
    else writer.u32(NO_RESULT);
  }
}

export function readAcks(reader: FrameReader): Ack[] {
  const hasResults = reader.flags(RESULTS) !== 0;
  const count = reader.count(BATCH_MAX, 1);
  const items: Ack[] = [];
  for (let i = 0; i < count; i++) {
    const lease = reader.short();
    const length = hasResults ? reader.u32() : NO_RESULT;
    items.push(length === NO_RESULT ? { lease } : { lease, result: reader.raw(length) });
  }
  return items;
}

const NACK: JsonBound = { name: "nack", bytesMax: SMALL_CALL_BYTES_MAX };

const ERROR = 1;
const DELAY = 2;
const UNRECOVERABLE = 4;
const REST = 8;
const STACK = 16;

export function writeNacks(writer: FrameWriter, items: readonly Nack[]): void {
  writer.u32(items.length);
  for (const item of items) writeNack(writer, item);
}

function writeNack(writer: FrameWriter, item: Nack): void {
  const { lease: _, error, stack, delayMs, unrecoverable, ...rest } = item ?? {};
  const other = rest as Record<string, unknown>;
  const isError = typeof error === "string";
  const isStack = typeof stack === "string";
  const isDelay = typeof delayMs === "number";
  const isFinal = unrecoverable === true;
  if (error !== undefined && !isError) other.error = error;
  if (stack !== undefined && !isStack) other.stack = stack;
  if (delayMs !== undefined && !isDelay) other.delayMs = delayMs;
  if (unrecoverable !== undefined && !isFinal) other.unrecoverable = unrecoverable;
  if (other.cooldown !== undefined) other.cooldown = tellCooldown(other.cooldown);
  const hasRest = Object.values(other).some((value) => value !== undefined);
  writer.short(tokenOf(item));
  writer.u8(
    (isError ? ERROR : 0) |
      (isDelay ? DELAY : 0) |
      (isFinal ? UNRECOVERABLE : 0) |
      (hasRest ? REST : 0) |
      (isStack ? STACK : 0),
  );
  if (isError) writer.text(error.slice(0, ERROR_CHARS_MAX));
  if (isDelay) writer.f64(delayMs);
  if (hasRest) writer.json(other, NACK);
  if (isStack) writer.text(stack.slice(0, ERROR_CHARS_MAX));
}

/** More than a broker keeps of an error or a stack, and less than a text can hold. */
const ERROR_CHARS_MAX = 10_000;

/** In the names of users, as HTTP has them. What is no object is left for the broker to refuse. */
function tellCooldown(cooldown: unknown): unknown {
  if (!isObject(cooldown)) return cooldown;
  const { ms, ...rest } = cooldown;
  return { ...rest, duration: ms };
}

function hearCooldown(cooldown: unknown): unknown {
  if (!isObject(cooldown)) return cooldown;
  const { duration, ms: _, ...rest } = cooldown;
  try {
    return { ...rest, ms: parseDuration("cooldown.duration", duration) };
  } catch {
    return { ...rest, ms: duration };
  }
}

export function readNacks(reader: FrameReader): Nack[] {
  const count = reader.count(BATCH_MAX, 2);
  const items: Nack[] = [];
  for (let i = 0; i < count; i++) {
    const lease = reader.short();
    const flags = reader.flags(ERROR | DELAY | UNRECOVERABLE | REST | STACK);
    const item: Nack = { lease };
    if ((flags & ERROR) !== 0) item.error = reader.text();
    if ((flags & DELAY) !== 0) item.delayMs = reader.f64();
    if ((flags & UNRECOVERABLE) !== 0) item.unrecoverable = true;
    const rest: Record<string, unknown> = (flags & REST) === 0 ? {} : { ...reader.object(NACK) };
    if (rest.cooldown !== undefined) rest.cooldown = hearCooldown(rest.cooldown);
    if ((flags & STACK) !== 0) item.stack = reader.text();
    items.push({ ...rest, ...item });
  }
  return items;
}

export function writeTokens(writer: FrameWriter, leases: readonly string[]): void {
  writer.u32(leases.length);
  for (const lease of leases) writer.short(typeof lease === "string" ? lease : "");
}

export function readTokens(reader: FrameReader): string[] {
  const count = reader.count(BATCH_MAX, 1);
  const leases: string[] = [];
  for (let i = 0; i < count; i++) leases.push(reader.short());
  return leases;
}

export function writeExtends(writer: FrameWriter, items: readonly Extend[]): void {
  writer.u32(items.length);
  for (const item of items) {
    writer.short(tokenOf(item));
    writer.f64(item?.leaseMs);
  }
}

export function readExtends(reader: FrameReader): Extend[] {
  const count = reader.count(BATCH_MAX, 9);
  const items: Extend[] = [];
  for (let i = 0; i < count; i++) items.push({ lease: reader.short(), leaseMs: reader.f64() });
  return items;
}

/** A value that is not a token is sent as an empty one, which the broker refuses. */
function tokenOf(item: { lease: string } | undefined | null): string {
  const lease: unknown = item?.lease;
  return typeof lease === "string" ? lease : "";
}
