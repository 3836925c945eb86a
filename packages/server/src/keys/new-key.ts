import {
  invalid,
  isObject,
  isPattern,
  KEY_ROLES,
  type KeyRole,
  roleGrants,
} from "@sluice/protocol";
import {
  GRANT_GATES_MAX,
  GRANTS_MAX,
  KEY_NAME_CHARS_MAX,
  KEY_REQUESTS_PER_SECOND_MAX,
} from "../limits.ts";
import { ACTIONS, type Action, type Grant } from "./grant.ts";

/** What a new key is asked to be. */
export interface NewKey {
  name: string;
  grants: Grant[];
  expiresAt?: number;
  requestsPerSecond?: number;
}

/** What a key may do, said by grants or by a role on some queues: by default on all. */
export type AskedGrants = { grants: Grant[] } | { role: KeyRole; on?: string };

const KNOWN = ["name", "grants", "role", "on", "expiresAt", "requestsPerSecond"];

export function parseNewKey(input: unknown, now: number): NewKey {
  if (!isObject(input)) throw invalid("key", "an object", input);
  const unknown = Object.keys(input).find((field) => !KNOWN.includes(field));
  if (unknown !== undefined) {
    throw invalid(unknown, `one of the known fields ${KNOWN.join(", ")}`, input[unknown]);
  }
  const { name = "", expiresAt, requestsPerSecond } = input;
  if (typeof name !== "string" || name.length > KEY_NAME_CHARS_MAX) {
    throw invalid("name", `a text of at most ${KEY_NAME_CHARS_MAX} characters`, name);
  }
  const key: NewKey = { name, grants: grantsOf(input) };
  if (expiresAt !== undefined) key.expiresAt = parseExpiry(expiresAt, now);
  if (requestsPerSecond !== undefined) key.requestsPerSecond = parseRate(requestsPerSecond);
  return key;
}

/** What a key is changed to: its grants and, if they are given, its name and its rate. */
export type KeyChange = Pick<NewKey, "grants"> &
  Partial<Pick<NewKey, "name" | "requestsPerSecond">>;

export function parseKeyChange(input: unknown): KeyChange {
  if (!isObject(input)) throw invalid("key", "an object", input);
  if (input.expiresAt !== undefined) {
    throw invalid("expiresAt", "absent: make another key for another time", input.expiresAt);
  }
  const { name, ...rest } = parseNewKey(input, 0);
  return input.name === undefined ? rest : { ...rest, name };
}

function grantsOf({ role, on, grants }: Record<string, unknown>): Grant[] {
  if (role === undefined) {
    if (on !== undefined) throw invalid("on", "absent: only a `role` has it", on);
    return parseGrants(grants);
  }
  if (grants !== undefined) throw invalid("grants", "absent beside a `role`", grants);
  const known = KEY_ROLES.find((one) => one === role);
  if (known === undefined) throw invalid("role", `one of ${KEY_ROLES.join(", ")}`, role);
  if (on !== undefined && !isPattern(on)) {
    throw invalid("on", 'a queue, a prefix that ends in "*", or "*"', on);
  }
  return roleGrants(known, on);
}

function parseGrants(grants: unknown): Grant[] {
  if (!Array.isArray(grants) || grants.length === 0 || grants.length > GRANTS_MAX) {
    throw invalid("grants", `a list of 1 to ${GRANTS_MAX} permissions`, grants);
  }
  return grants.map((grant: unknown, i) => {
    const field = `grants[${i}]`;
    if (!isObject(grant)) throw invalid(field, "an object { action, on, gates? }", grant);
    const { action, on, gates } = grant;
    if (!ACTIONS.includes(action as Action)) {
      throw invalid(`${field}.action`, `one of ${ACTIONS.join(", ")}`, action);
    }
    if (!isPattern(on)) {
      throw invalid(`${field}.on`, 'a queue, a prefix that ends in "*", or "*"', on);
    }
    const parsed: Grant = { action: action as Action, on };
    if (gates !== undefined) parsed.gates = parseGates(`${field}.gates`, gates);
    return parsed;
  });
}

function parseGates(field: string, gates: unknown): string[] {
  const wanted = `a list of at most ${GRANT_GATES_MAX} gates, prefixes that end in "*", or "*"`;
  if (Array.isArray(gates) && gates.length <= GRANT_GATES_MAX && gates.every(isPattern)) {
    return [...gates];
  }
  throw invalid(field, wanted, gates);
}

function parseExpiry(expiresAt: unknown, now: number): number {
  if (Number.isSafeInteger(expiresAt) && (expiresAt as number) > now) return expiresAt as number;
  throw invalid("expiresAt", "a time in the future, in milliseconds", expiresAt);
}

function parseRate(rate: unknown): number {
  if (typeof rate === "number" && rate > 0 && rate <= KEY_REQUESTS_PER_SECOND_MAX) return rate;
  throw invalid("requestsPerSecond", `a number up to ${KEY_REQUESTS_PER_SECOND_MAX}`, rate);
}
