import { SluiceError } from "@sluice/protocol";
import { type Call, type Command, EXIT, Misuse, textOf, wordsOf } from "../command.ts";
import { looseValue } from "../settings.ts";
import { connected, TARGET, TARGET_USAGE } from "../target.ts";

/** The store that policies read. */
const STORE = "config";
const VERBS = ["list", "get", "set", "delete"];

export const configCommand: Command = {
  name: "config",
  verbs: VERBS,
  usage: `sluice config [list] [--prefix TEXT]
sluice config get KEY
sluice config set KEY VALUE    JSON, or a text
sluice config delete KEY

  --prefix TEXT   list only keys that begin with it
${TARGET_USAGE}`,
  options: { ...TARGET, prefix: { type: "string" } },
  run: (call) =>
    connected(call, async ({ sluice }) => {
      const store = sluice.store(STORE);
      const [verb = "list", ...rest] = call.words;
      const { out } = call.output;
      switch (verb) {
        case "list":
          for await (const { key, value } of store.scan(prefixOf(call))) {
            out(call.isJson ? JSON.stringify({ key, value }) : `${key}=${JSON.stringify(value)}`);
          }
          return EXIT.well;
        case "get": {
          const [key] = wordsOf(rest, "KEY");
          const value = await store.get(key);
          if (value === undefined) {
            const message = `there is no configuration key ${key}; \`config list\` shows all`;
            throw new SluiceError("NOT_FOUND", message, { key });
          }
          out(JSON.stringify(value));
          return EXIT.well;
        }
        case "set": {
          const [key, text] = wordsOf(rest, "KEY", "VALUE");
          await store.put(key, looseValue(text));
          return EXIT.well;
        }
        case "delete":
          await store.delete(wordsOf(rest, "KEY")[0]);
          return EXIT.well;
        default:
          throw new Misuse(`"${verb}" is not one of ${VERBS.join(", ")}`);
      }
    }),
};

function prefixOf(call: Call): { prefix?: string } {
  const prefix = textOf(call, "prefix");
  return prefix === undefined ? {} : { prefix };
}
