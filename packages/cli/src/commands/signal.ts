import { type Command, Misuse, tell, wordsOf } from "../command.ts";
import { connected, TARGET, TARGET_USAGE } from "../target.ts";

export const signalCommand: Command = {
  name: "signal",
  usage: `sluice signal ID NAME [VALUE]    the step of job ID that waits for NAME continues with VALUE,
                                 which is JSON (default: null); until there is one it is kept

${TARGET_USAGE}`,
  options: TARGET,
  run: (call) => {
    const [id, name, ...rest] = call.words;
    if (rest.length > 1) throw new Misuse("one VALUE, in quotes");
    wordsOf(
      [id, name].filter((word) => word !== undefined),
      "ID",
      "NAME",
    );
    const value = parsed(rest[0]);
    return connected(call, async ({ sluice }) => {
      await sluice.signal(id!, name!, value);
      return tell(call, { id, name, sent: true }, () => "sent");
    });
  },
};

function parsed(text: string | undefined): unknown {
  if (text === undefined) return null;
  try {
    return JSON.parse(text);
  } catch {
    throw new Misuse(`VALUE is JSON, got ${JSON.stringify(text)}`);
  }
}
