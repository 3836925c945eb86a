import { type Command, EXIT, Misuse, wholeOf, wordsOf } from "../command.ts";
import { counted } from "../show.ts";
import { connected, TARGET, TARGET_USAGE } from "../target.ts";

export const redriveCommand: Command = {
  name: "redrive",
  usage: `sluice redrive QUEUE.dlq     oldest first, with their attempts reset

  --count N              how many (default all)
  --id ID                only this one (repeat)
${TARGET_USAGE}`,
  options: { ...TARGET, count: { type: "string" }, id: { type: "string", multiple: true } },
  run: (call) => {
    const [queue] = wordsOf(call.words, "QUEUE.dlq");
    const wanted = wholeOf(call, "count", 1);
    const ids = call.values.id as string[] | undefined;
    if (wanted !== undefined && ids !== undefined) throw new Misuse("--count or --id, not both");
    const options = ids !== undefined ? { ids } : wanted !== undefined ? { count: wanted } : {};
    return connected(call, async ({ broker }) => {
      const redriven = await broker.redrive(queue, options);
      const text = `${counted(redriven, "job is", "jobs are")} back`;
      call.output.out(call.isJson ? JSON.stringify({ redriven }) : text);
      const missing = new Set(ids).size - redriven;
      if (missing <= 0) return EXIT.well;
      const left = `${counted(missing, "job is", "jobs are")} not back`;
      call.output.progress.write(`${left}: no dead letter of ${queue}, or held by a reader\n`);
      return EXIT.wrong;
    });
  },
};
