/** What a row promises of a call's arguments and options, held against what came over a network. */
import { invalid, unknownField } from "../kinds.ts";
import type { CallRow } from "./call.ts";

/** The arguments of a call as its row has them, and the options last. */
export function checkCall(row: CallRow, args: readonly unknown[]): unknown[] {
  const checked = row.args.map(({ name, kind, isOptional }, i) => {
    const value = args[i];
    return value === undefined && isOptional ? undefined : kind.parse(name, value);
  });
  if (args.length > row.args.length + 1) throw invalid("arguments", `${row.args.length}`, args);
  const options = checkOptions(row, args[row.args.length]);
  return options === undefined ? checked : [...checked, options];
}

/** Options that a row has, each of its kind. How long a caller waits never travels. */
function checkOptions(row: CallRow, options: unknown): object | undefined {
  if (options === undefined) return undefined;
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw invalid("options", "an object", options);
  }
  for (const [name, value] of Object.entries(options)) {
    if (name === "operationId" && row.repeat === "once") continue;
    const kind = Object.hasOwn(row.options, name) ? row.options[name] : undefined;
    if (kind === undefined) throw unknownField(`options.${name}`, knownOptions(row), value);
    if (value !== null) kind.parse(name, value);
  }
  return options;
}

function knownOptions(row: CallRow): readonly string[] {
  return [...Object.keys(row.options), ...(row.repeat === "once" ? ["operationId"] : [])];
}
