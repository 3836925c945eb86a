import { type Command, EXIT, wholeOf, wordsOf } from "../command.ts";
import { counted } from "../show.ts";
import { connected, TARGET, TARGET_USAGE } from "../target.ts";

export const redriveCommand: Command = {
  name: "redrive",
  summary: "put dead jobs back where they came from",
  usage: `sluice redrive QUEUE.dlq     oldest first, with their attempts reset

  --count N              so many (default: all)
${TARGET_USAGE}`,
  options: { ...TARGET, count: { type: "string" } },
  run: (call) => {
    const [queue] = wordsOf(call.words, "QUEUE.dlq");
    const wanted = wholeOf(call, "count", 1);
    return connected(call, async ({ broker }) => {
      const redriven = await broker.redrive(queue, wanted === undefined ? {} : { count: wanted });
      call.output.out(
        call.isJson
          ? JSON.stringify({ redriven })
          : `${counted(redriven, "job is", "jobs are")} back`,
      );
      return EXIT.well;
    });
  },
};
