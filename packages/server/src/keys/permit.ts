import { hash } from "node:crypto";
import {
  type Broker,
  type CallOptions,
  matchesPattern,
  type OperationOptions,
  SluiceError,
} from "@sluice/protocol";
import { OWN_ID_CHARS_MAX } from "../limits.ts";
import {
  type Action,
  allowedPatterns,
  allows,
  allowsAll,
  allowsAny,
  coolableGates,
  forbidden,
  forbiddenGate,
  isAmong,
  nameableGates,
  setsGate,
} from "./grant.ts";
import type { Principal } from "./principal.ts";

/** A broker, and what the caller may do with it. */
export interface Access {
  readonly broker: Broker;
  readonly permit: Permit;
}

/** Asks a principal, on every call, whether it may. Each `enter` counts as one request. */
export class Permit {
  readonly principal: Principal;

  constructor(principal: Principal) {
    this.principal = principal;
  }

  /** Requires one of the actions on this name. */
  enter(actions: Action | readonly Action[], name: string): void {
    this.principal.charge();
    this.check(actions, name);
  }

  /** As `enter`, within a call that was counted. */
  check(actions: Action | readonly Action[], name: string): void {
    if (!this.can(actions, name)) throw forbidden(actions, name);
  }

  /** Requires any action on this name. */
  enterAny(name: string): void {
    this.principal.charge();
    this.checkAny(name);
  }

  /** As `enterAny`, within a call that is counted. */
  checkAny(name: string): void {
    if (!this.sees(name)) throw forbidden(["produce", "consume"], name);
  }

  /** The action on everything. */
  enterAll(action: Action): void {
    this.principal.charge();
    this.checkAll(action);
  }

  /** As `enterAll`, within a call that is counted. */
  checkAll(action: Action): void {
    if (!this.canAll(action)) throw forbidden(action, "*");
  }

  /** Setting the limits of a gate, or of all under a pattern. */
  enterGateLimits(pattern: string): void {
    this.principal.charge();
    if (!setsGate(this.principal.grants(), pattern)) throw forbidden("admin", "*");
  }

  /** Cooling a gate down, or reporting to its ladder. */
  enterGate(what: string, gate: string): void {
    this.principal.charge();
    if (!this.cools(gate)) throw forbiddenGate(what, gate);
  }

  /** The gates that jobs of this queue may name; undefined: all. */
  nameable(queue: string): readonly string[] | undefined {
    return nameableGates(this.principal.grants(), "produce", queue);
  }

  /** The gates that may be cooled down and reported to; undefined: all. */
  coolable(): readonly string[] | undefined {
    return coolableGates(this.principal.grants());
  }

  cools(gate: string): boolean {
    return this.coolable()?.some((pattern) => matchesPattern(pattern, gate)) ?? true;
  }

  /** Any key that is valid now. */
  enterValid(): void {
    this.principal.charge();
    this.principal.grants();
  }

  /**
   * The patterns of queues that a call over many of them may reach with this right: those that it
   * names, all of which must be allowed, or all that are. Undefined: every queue.
   */
  within(action: Action, named: readonly string[] | undefined): readonly string[] | undefined {
    const allowed = allowedPatterns(this.principal.grants(), action);
    if (allowed.includes("*")) return named;
    if (!Array.isArray(named)) return allowed;
    const refused = named.find((pattern) => !isAmong(allowed, String(pattern)));
    if (refused !== undefined) throw forbidden(action, String(refused));
    return named;
  }

  /** Whether the action is allowed on all that these patterns match. */
  coversAll(action: Action, patterns: readonly string[]): boolean {
    const allowed = allowedPatterns(this.principal.grants(), action);
    return patterns.every((pattern) => isAmong(allowed, pattern));
  }

  can(actions: Action | readonly Action[], name: string): boolean {
    const grants = this.principal.grants();
    if (typeof actions === "string") return allows(grants, actions, name);
    return actions.some((action) => allows(grants, action, name));
  }

  canAll(actions: Action | readonly Action[]): boolean {
    const grants = this.principal.grants();
    if (typeof actions === "string") return allowsAll(grants, actions);
    return actions.some((action) => allowsAll(grants, action));
  }

  sees(name: string): boolean {
    return allowsAny(this.principal.grants(), name);
  }

  /** Whether it may, with no error for a key that is no longer valid. */
  still(actions: Action | readonly Action[], name: string): boolean {
    try {
      return this.can(actions, name);
    } catch {
      return false;
    }
  }

  /**
   * Makes a call under an operation id of the caller's own: another key cannot get an answer by
   * guessing one. Errors name the id that the caller gave.
   */
  underOwnId<O extends OperationOptions | undefined, T>(
    options: O,
    call: (own: O) => Promise<T>,
  ): Promise<T> {
    const given = options?.operationId;
    if (typeof given !== "string" || given === "") return call(options);
    const operationId = ownId(this.principal.id, given);
    return call({ ...options, operationId }).catch((error: unknown) => {
      throw renamed(error, operationId, given);
    });
  }
}

/**
 * The key before the zero separates the ids of different callers. A long id is hashed. A hash has
 * no zero, so it never equals another id. Hashing takes 1.2 µs, which each call would pay.
 */
function ownId(principal: string, given: string): string {
  // A numbered id stays one: the caller's name belongs to its source.
  const [, source, number] = /^numbered:(.+):(\d+)$/.exec(given) ?? [];
  if (source !== undefined && SHARED_SOURCE.test(source)) return given;
  if (source !== undefined) return `numbered:${shortened(`${principal}\0${source}`)}:${number}`;
  return shortened(`${principal}\0${given}`);
}

/**
 * No other caller can guess a uuid. A source that has one is the same for every key: an outbox gets
 * another key, and the number of a batch that was sent with the old one must be known.
 */
const SHARED_SOURCE = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.\d+$/;

function shortened(id: string): string {
  return id.length <= OWN_ID_CHARS_MAX ? id : hash("sha256", id, "base64url");
}

function renamed(error: unknown, own: string, given: string): unknown {
  if (!(error instanceof SluiceError)) return error;
  const field = ["value", "operationId"].find((name) => error.details[name] === own);
  if (field === undefined) return error;
  const message = error.message.replace(JSON.stringify(own), () => JSON.stringify(given));
  const { cause } = error;
  return new SluiceError(error.code, message, { ...error.details, [field]: given }, { cause });
}

/**
 * Makes a call that may wait, and ends it when the right to make it is lost: the key was revoked,
 * has expired or lost the grant. It is then refused as its next call would be.
 */
export function whileAllowed<O extends CallOptions, T>(
  permit: Permit,
  actions: Action | readonly Action[],
  name: string,
  options: O,
  call: (options: O) => Promise<T>,
): Promise<T> {
  if (permit.principal.watch === undefined) return call(options);
  return watched(permit, actions, name, options, call);
}

async function watched<O extends CallOptions, T>(
  permit: Permit,
  actions: Action | readonly Action[],
  name: string,
  options: O,
  call: (options: O) => Promise<T>,
): Promise<T> {
  const given = options.signal;
  const controller = new AbortController();
  const end = (): void => controller.abort();
  const leave = permit.principal.watch!(() => {
    if (!permit.still(actions, name)) end();
  });
  if (given?.aborted === true) end();
  given?.addEventListener("abort", end, { once: true });
  try {
    return await call({ ...options, signal: controller.signal });
  } catch (error) {
    permit.check(actions, name);
    throw error;
  } finally {
    leave();
    given?.removeEventListener("abort", end);
  }
}
