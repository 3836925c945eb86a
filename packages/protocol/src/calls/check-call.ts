/**
 * What a row promises of a call's arguments and options, held against what a caller gives, in this
 * process or over a network.
 */
import { invalid, isObject, unknownField } from "../kinds.ts";
import type { Argument, CallRow } from "./call.ts";

/** How long a caller waits never travels. */
const ABROAD: readonly string[] = [];
const AT_HOME: readonly string[] = ["signal", "timeout"];

/** The arguments of a call as its row has them, and the options last, as a network brings them. */
export function checkCall(row: CallRow, args: readonly unknown[]): unknown[] {
  const checked = row.args.map((argument, i) => parsed(argument, args[i]));
  checkOptions(row, args, ABROAD);
  const options = args[row.args.length];
  return options === undefined ? checked : [...checked, options];
}

/** Refuses what the row does not have; the part of the broker that acts on a value parses it. */
export function checkLocalCall(row: CallRow, args: readonly unknown[]): void {
  for (let i = 0; i < row.args.length; i++) parsed(row.args[i]!, args[i]);
  checkOptions(row, args, AT_HOME);
}

function parsed({ name, kind, isOptional }: Argument, value: unknown): unknown {
  return value === undefined && isOptional ? undefined : kind.parse(name, value);
}

/** Options that a row has, each of its kind. */
function checkOptions(row: CallRow, args: readonly unknown[], also: readonly string[]): void {
  const at = row.args.length;
  if (args.length > at + 1) throw invalid("arguments", `at most ${at + 1}`, args.length);
  const options = args[at];
  if (options === undefined) return;
  if (!isObject(options)) throw invalid("options", "an object", options);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || also.includes(name)) continue;
    if (name === "operationId" && row.repeat === "once") continue;
    const kind = Object.hasOwn(row.options, name) ? row.options[name] : undefined;
    if (kind === undefined) throw unknownField(`options.${name}`, [...known(row), ...also], value);
    kind.parse(name, value);
  }
}

function known(row: CallRow): readonly string[] {
  return [...Object.keys(row.options), ...(row.repeat === "once" ? ["operationId"] : [])];
}
