import { type Command, EXIT, wordsOf } from "../command.ts";
import { serveMcp } from "../mcp/server.ts";
import { toolsOf } from "../mcp/tools.ts";
import { connected, TARGET, TARGET_USAGE } from "../target.ts";

export const mcpCommand: Command = {
  name: "mcp",
  usage: `sluice mcp               speaks the Model Context Protocol on standard input and output;
                         an assistant starts it and looks at queues, jobs and gates

  --write                tools that change something too (default: they only read)
${TARGET_USAGE}`,
  options: { ...TARGET, write: { type: "boolean" } },
  run: (call) => {
    wordsOf(call.words);
    const isWriting = call.values.write === true;
    return connected(call, async ({ broker }) => {
      await serveMcp(call, toolsOf(broker, { isWriting, signal: call.stop }));
      return EXIT.well;
    });
  },
};
