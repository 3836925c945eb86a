import { type Command, EXIT, wordsOf } from "../command.ts";
import { VERSION } from "../serve/version.ts";

export const versionCommand: Command = {
  name: "version",
  summary: "the version of this program",
  usage: "sluice version           also sluice --version\n",
  options: {},
  run: async ({ words, isJson, output }) => {
    wordsOf(words);
    output.out(isJson ? JSON.stringify({ version: VERSION }) : VERSION);
    return EXIT.well;
  },
};
