/**
 * Which calls of a caller have an entry in the audit log. Of a person (the page, the command line)
 * that is every call that changes something; of other programs it is what destroys or acts on many
 * jobs: their adds and settings at each start are no news.
 */
import { type Broker, CALL_NAMES, type CallName, type CallRow, rowOf } from "@sluice/protocol";
import type { AuditAction, AuditCaller, AuditLog } from "./audit-log.ts";

/** Where the entries of a caller go. */
export interface CallerAudit {
  readonly log: AuditLog;
  readonly caller: AuditCaller;
}

/** From any caller. */
const ALWAYS: ReadonlySet<CallName> = new Set([
  ...(["deleteQueue", "purge", "redrive", "startBulk", "stopBulk", "setLaneWeight"] as const),
  ...(["deleteSchedule", "deleteGate", "clearCooldown"] as const),
]);

/** Of a person too: what workers do, also those that the command line runs. */
const isWork = ({ may, repeat }: CallRow): boolean => repeat === "read" || may === "consume";

const PERSONAL = CALL_NAMES.filter((name) => !isWork(rowOf(name)));

type Method = (...args: unknown[]) => Promise<unknown>;

interface Implementation<B> {
  readonly prototype: B;
}

/**
 * Has the calls of a class make an entry before anything else, so that refused ones have theirs
 * too. `auditOf` answers undefined for a caller without entries.
 */
export function notedCalls<B extends Broker>(
  { prototype }: Implementation<B>,
  auditOf: (broker: B) => CallerAudit | undefined,
): void {
  const calls = prototype as unknown as Record<string, Method>;
  for (const name of PERSONAL) {
    const row = rowOf(name);
    const isAlways = ALWAYS.has(name);
    const call = calls[name]!;
    calls[name] = function noted(this: B, ...args: unknown[]): Promise<unknown> {
      const audit = auditOf(this);
      if (audit === undefined || !(isAlways || isPerson(audit.caller)) || isOpening(name, args)) {
        return call.apply(this, args);
      }
      const action = actionOf(name, row, args);
      return audit.log.record(audit.caller, action, () => call.apply(this, args));
    };
  }
}

function isPerson({ via }: AuditCaller): boolean {
  return via === "page" || via === "command";
}

/** Opening a queue that is there changes nothing, and every command does it. */
function isOpening(name: CallName, [, options]: unknown[]): boolean {
  return name === "setQueue" && Object.keys(options ?? {}).length === 0;
}

function actionOf(name: CallName, row: CallRow, args: readonly unknown[]): AuditAction {
  const named = row.about === "broker" ? [] : [args[0]].flat();
  const rest = row.about === "broker" ? args : args.slice(1);
  const on = named.map(String).join(", ") || "*";
  return { action: name, on, detail: detailOf(name, rest) };
}

/** Payloads and values stay out: they may be secrets of the users' own. */
function detailOf(name: CallName, args: readonly unknown[]): string {
  if (name === "add" || name === "addFlow") {
    const [jobs] = args;
    return Array.isArray(jobs) ? JSON.stringify({ jobs: jobs.length }) : "";
  }
  if (name === "storeWrite") {
    const keys = (args[0] as readonly { key: string }[]).map(({ key }) => key);
    return JSON.stringify({ keys });
  }
  const told = args.filter((value) => value !== undefined);
  const text = told.map((value) => JSON.stringify(value, withoutSecrets)).join(" ");
  return text === "{}" ? "" : text;
}

const HIDDEN = new Set(["payload", "value", "signal", "operationId", "by", "headers"]);

function withoutSecrets(name: string, value: unknown): unknown {
  return HIDDEN.has(name) ? undefined : value;
}
