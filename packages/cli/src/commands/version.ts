import { VERSION } from "@sluice/protocol";
import { type Command, tell, wordsOf } from "../command.ts";

export const versionCommand: Command = {
  name: "version",
  usage: "sluice version           also sluice --version\n",
  options: {},
  run: async (call) => {
    wordsOf(call.words);
    return tell(call, { version: VERSION }, () => VERSION);
  },
};
