import {
  type Broker,
  CALL_NAMES,
  type CallName,
  type CallRow,
  checkCall,
  type Outcome,
  rowOf,
  SluiceError,
} from "@sluice/protocol";
import { readable } from "../carried.ts";
import { type Call, type Command, EXIT, Misuse } from "../command.ts";
import { valueFrom } from "../settings.ts";
import { connected, TARGET, TARGET_USAGE } from "../target.ts";

/** Jobs and their results are added and taken by commands of their own. */
const NAMES = CALL_NAMES.filter((name) => !rowOf(name).isHot);

/** Any call of the broker, as the table of calls describes it. */
export const callCommand: Command = {
  name: "call",
  verbs: NAMES,
  usage: `sluice call NAME ARGUMENT ... [option=value ...]
                         prints the answer as JSON. A value is JSON, or a text;
                         a list can be written with commas: sluice call queuesOf a1,a2

${NAMES.map((name) => usageOf(name, rowOf(name))).join("\n")}

${TARGET_USAGE}`,
  options: TARGET,
  run: (call) => {
    const [name = "", ...words] = call.words;
    const known = NAMES.find((one) => one === name);
    if (known === undefined) {
      const message = `there is no call ${JSON.stringify(name)}`;
      throw new Misuse(message, `Calls are ${NAMES.join(", ")}.`);
    }
    const args = argumentsOf(known, words);
    return connected(call, ({ broker }) => make(call, broker, known, args));
  },
};

function usageOf(name: CallName, { args, options, says }: CallRow): string {
  const words = args.map(({ name: word, isOptional }) =>
    isOptional ? `[${word.toUpperCase()}]` : word.toUpperCase(),
  );
  const given = [name, ...words, ...Object.keys(options).map((option) => `[${option}=]`)];
  return `  ${given.join(" ")}\n      ${says}`;
}

/** The arguments of a call and its options, checked as a server would. */
function argumentsOf(name: CallName, words: readonly string[]): unknown[] {
  const row = rowOf(name);
  const help = `sluice call\n${usageOf(name, row)}`;
  const given = row.args.map(({ kind }, i) => valueFrom(kind, words[i]));
  const options = words.slice(row.args.length).map((word): [string, unknown] => {
    const cut = word.indexOf("=");
    if (cut < 1) throw new Misuse(`option=value is needed, got ${JSON.stringify(word)}`, help);
    const option = word.slice(0, cut);
    const kind = Object.hasOwn(row.options, option) ? row.options[option] : undefined;
    return [option, valueFrom(kind, word.slice(cut + 1))];
  });
  try {
    return checkCall(row, [...given, Object.fromEntries(options)]);
  } catch (error) {
    throw error instanceof SluiceError ? new Misuse(error.message, help) : error;
  }
}

async function make(
  call: Call,
  broker: Broker,
  name: CallName,
  args: readonly unknown[],
): Promise<number> {
  const row = rowOf(name);
  const options = { ...(args[row.args.length] as object), signal: call.stop };
  const all = [...args.slice(0, row.args.length), options];
  const answer: unknown = await Reflect.apply(broker[name], broker, all);
  const shown = readable(row, answer);
  call.output.out(call.isJson ? JSON.stringify(shown) : JSON.stringify(shown, null, 2));
  const outcomes = row.each ? (answer as readonly Outcome<unknown>[]) : [];
  return outcomes.some(({ error }) => error !== undefined) ? EXIT.wrong : EXIT.well;
}
