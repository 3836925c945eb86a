import type { ErrorCode, ErrorJson } from "../errors.ts";
import type { Outcome } from "../job.ts";
import { type PageStart, walkPages } from "../pages.ts";
import type { Page } from "../queue.ts";

/**
 * What a case holds an implementation to. The protocol stands on nothing, so the checks are its
 * own; each takes a sentence that says what was expected, because a reader of a failure has
 * another implementation before their eyes and not this suite.
 */
export class Unmet extends Error {
  constructor(message: string) {
    super(message);
    this.name = "Unmet";
  }
}

export function check(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Unmet(what);
}

export function equal(actual: unknown, expected: unknown, what: string): void {
  check(isSame(actual, expected), `${what}: expected ${show(expected)}, got ${show(actual)}`);
}

/** One field of each, for checks of a list by it. */
export function each<T, F extends keyof T>(items: readonly T[], field: F): T[F][] {
  return items.map((item) => item[field]);
}

/** All items of a list: no page is longer than `limit`, and the pages come to an end. */
export async function paged<T>(
  limit: number | undefined,
  ask: (from: PageStart) => Promise<Page<T>>,
): Promise<T[]> {
  const all: T[] = [];
  const pages = walkPages(async (from) => {
    const page = await ask(from);
    check(limit === undefined || page.items.length <= limit, `a page must have ${limit} at most`);
    return page;
  });
  for await (const item of pages) check(all.push(item) < 1000, "the pages must come to an end");
  return all;
}

/** Holds only the fields that are named against `actual`. */
export function matches(actual: unknown, expected: Record<string, unknown>, what: string): void {
  check(isObject(actual), `${what}: expected an object, got ${show(actual)}`);
  for (const [field, value] of Object.entries(expected)) {
    equal(actual[field], value, `${what}, its ${field}`);
  }
}

/** The value of an outcome that was to go through. */
export function accepted<T>(outcome: Outcome<T> | undefined, what: string): T {
  check(outcome !== undefined, `${what}: the batch has no answer for it`);
  if (outcome.error === undefined) return outcome.ok;
  throw new Unmet(`${what}: refused with ${outcome.error.code} (${outcome.error.message})`);
}

/** The error of an item that was to be refused. */
export function refused(
  outcome: Outcome<unknown> | undefined,
  code: ErrorCode,
  what: string,
): ErrorJson {
  check(outcome !== undefined, `${what}: the batch has no answer for it`);
  const { error } = outcome;
  check(error !== undefined, `${what}: expected ${code}, but it was accepted`);
  check(error.code === code, `${what}: expected ${code}, got ${error.code} (${error.message})`);
  return error;
}

/** The error of a call that was to be refused as a whole, with one of the codes. */
export async function rejects(
  call: Promise<unknown>,
  codes: ErrorCode | readonly ErrorCode[],
  what: string,
): Promise<ErrorJson> {
  const wanted = typeof codes === "string" ? [codes] : codes;
  const error = await errorOf(call);
  check(error !== undefined, `${what}: expected ${wanted.join(" or ")}, but it was answered`);
  const code = isObject(error) ? error.code : undefined;
  check(
    wanted.includes(code as ErrorCode),
    `${what}: expected ${wanted.join(" or ")}, got ${show(code)} (${String(error)})`,
  );
  return (error as { toJSON(): ErrorJson }).toJSON();
}

/** A refusal of input says which field, by the last part of its path, and what came. */
export function names(error: ErrorJson, field: string, what: string): void {
  const named = String(error.details?.field);
  const last = named
    .replaceAll('"', "")
    .split(/[.[]/)
    .map((part) => part.replace(/\]$/, ""));
  check(last.includes(field), `${what}: expected details.field to name ${field}, got ${named}`);
  check(
    error.message.includes(named),
    `${what}: the message does not name ${named}: ${error.message}`,
  );
}

/** Every one of `wanted` is in `list`, in this order; others may stand between. */
export function inOrder(list: readonly string[], wanted: readonly string[], what: string): void {
  let next = 0;
  for (const item of list) if (item === wanted[next]) next++;
  check(next === wanted.length, `${what}: expected ${show(wanted)} in order, got ${show(list)}`);
}

async function errorOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
    return undefined;
  } catch (error) {
    return error ?? new Unmet("rejected with nothing");
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** Deep equality. A field of undefined is an absent one, as it is to JSON. */
function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  if (a instanceof Uint8Array || b instanceof Uint8Array) {
    if (!(a instanceof Uint8Array && b instanceof Uint8Array)) return false;
    return a.length === b.length && a.every((byte, i) => byte === b[i]);
  }
  const fields = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...fields].every((field) => isSame(a[field], b[field]));
}

export function show(value: unknown): string {
  if (value instanceof Uint8Array) return `${value.length} bytes ${show(text(value.slice(0, 40)))}`;
  const json = JSON.stringify(value, (_key, inner) =>
    inner instanceof Uint8Array ? show(inner) : inner,
  );
  if (json === undefined) return String(value);
  return json.length > 300 ? `${json.slice(0, 297)}...` : json;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function bytes(of: string): Uint8Array {
  return encoder.encode(of);
}

function text(of: Uint8Array): string {
  return decoder.decode(of);
}

export function textOf(job: { payload: Uint8Array }): string {
  return text(job.payload);
}
