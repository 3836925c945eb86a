/**
 * The port of a caller, with an entry in the audit log for what may be asked later. Of a person
 * (the page, the command line) that is every call that changes something; of other programs it is
 * what destroys or acts on many jobs: their adds and settings at each start are no news.
 */
import { type Broker, CALL_NAMES, type CallName, type CallRow, rowOf } from "@sluice/protocol";
import type { AuditAction, AuditCaller, AuditLog } from "./audit-log.ts";

/** From any caller. */
const ALWAYS: ReadonlySet<CallName> = new Set([
  ...(["deleteQueue", "purge", "redrive", "startBulk", "stopBulk", "setLaneWeight"] as const),
  ...(["deleteSchedule", "deleteGate", "clearCooldown"] as const),
]);

/** Of a person too: what workers do, also those that the command line runs. */
const isWork = ({ may, repeat }: CallRow): boolean => repeat === "read" || may === "consume";

const PERSONAL = new Set(CALL_NAMES.filter((name) => !isWork(rowOf(name))));

export function audited(broker: Broker, log: AuditLog, caller: AuditCaller): Broker {
  const isPerson = caller.via === "page" || caller.via === "command";
  const names: ReadonlySet<string> = isPerson ? PERSONAL : ALWAYS;
  const methods = new Map<string | symbol, unknown>();
  const methodOf = (name: string | symbol): unknown => {
    const method: unknown = Reflect.get(broker, name);
    if (typeof method !== "function") return method;
    const call = method.bind(broker) as (...args: unknown[]) => Promise<unknown>;
    if (!names.has(String(name))) return call;
    const row = rowOf(name as CallName);
    return (...args: unknown[]) => {
      if (isOpening(name as CallName, args)) return call(...args);
      return log.record(caller, actionOf(name as CallName, row, args), () => call(...args));
    };
  };
  return new Proxy(broker, {
    get: (_, name) => {
      if (!methods.has(name)) methods.set(name, methodOf(name));
      return methods.get(name);
    },
  });
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
