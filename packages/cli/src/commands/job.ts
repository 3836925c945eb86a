import type { Broker, JobInfo, Outcome } from "@sluice/protocol";
import { SluiceError, walkPages } from "@sluice/protocol";
import { carried } from "../carried.ts";
import { type Call, type Command, EXIT, Misuse, tell, wordsOf } from "../command.ts";
import { duration, facts, key, printable, table, time } from "../show.ts";
import { connected, TARGET, TARGET_USAGE } from "../target.ts";

/** What the time of a job means in its state. */
const AT: Readonly<Record<string, string>> = { delayed: "due", running: "leased until" };

const VERBS = ["show", "history", "steps", "cancel", "retry"];

export const jobCommand: Command = {
  name: "job",
  verbs: VERBS,
  usage: `sluice job show ID       all that is known about it
sluice job history ID    its life, step by step
sluice job steps ID      the steps of its handler, with their results
sluice job cancel ID     aborts its handler if it runs
sluice job retry ID      runs it again while it is kept, or a delayed one at once;
                         returns a dead letter to the queue it came from

${TARGET_USAGE}`,
  options: TARGET,
  run: (call) => connected(call, ({ broker }) => act(call, broker)),
};

export const whyCommand: Command = {
  name: "why",
  usage: `sluice why ID            its state, what blocks it and until when

${TARGET_USAGE}`,
  options: TARGET,
  run: (call) => {
    const [id] = wordsOf(call.words, "ID");
    return connected(call, async ({ broker }) => {
      const why = await broker.why(id);
      return tell(call, why, () => why.text);
    });
  },
};

async function act(call: Call, broker: Broker): Promise<number> {
  const [verb, ...rest] = call.words;
  if (verb === undefined) throw new Misuse("VERB ID is needed, got nothing");
  if (!VERBS.includes(verb)) throw new Misuse(`"${verb}" is not one of ${VERBS.join(", ")}`);
  const [id] = wordsOf(rest, "ID");
  switch (verb) {
    case "history":
      return history(call, broker, id);
    case "steps":
      return steps(call, broker, id);
    case "cancel": {
      const isCancelled = only(await broker.cancel([id]));
      return tell(call, { id, cancelled: isCancelled }, () =>
        isCancelled ? "cancelled" : "it had ended",
      );
    }
    case "retry":
      only(await broker.retry([id]));
      return tell(call, { id, retried: true }, () => "it runs again");
    default:
      return show(call, await broker.job(id));
  }
}

function only<T>([outcome]: readonly Outcome<T>[]): T {
  if (outcome?.error !== undefined) throw SluiceError.fromJSON(outcome.error);
  return outcome!.ok as T;
}

async function history(call: Call, broker: Broker, id: string): Promise<number> {
  const steps = await broker.history(id);
  const rows = steps.map(({ at, event, detail }, i) => {
    const before = steps[i - 1];
    const after = before === undefined ? "" : `+ ${duration(at - before.at)}`;
    return [time(at), after, event, printable(detail ?? "")];
  });
  return tell(call, steps, () => table(["at", "after", "what", ""], rows));
}

async function steps(call: Call, broker: Broker, id: string): Promise<number> {
  const items = await Array.fromAsync(walkPages((from) => broker.steps(id, from)));
  const rows = items.map((step) => {
    const occurrence = step.occurrence === 0 ? "" : ` #${step.occurrence + 1}`;
    const value = step.value === undefined ? "" : JSON.stringify(step.value);
    const what = step.isDone ? value : `failed ${step.failures}: ${step.error}`;
    return [time(step.at), step.kind, `${step.name}${occurrence}`, printable(what)];
  });
  return tell(call, items, () =>
    rows.length === 0 ? "no steps" : table(["at", "kind", "step", ""], rows),
  );
}

function show({ isJson, output }: Call, info: JobInfo): number {
  if (isJson) {
    output.out(JSON.stringify(carried(info)));
    return EXIT.well;
  }
  const { payload, result } = info;
  const body = Buffer.from(payload).toString();
  const answer = result === undefined ? undefined : Buffer.from(result).toString();
  const headers = Object.entries(info.headers).map(([name, value]) => `${name}=${value}`);
  const pairs: [string, string | undefined][] = [
    ["job", `${info.id} of ${info.queue}`],
    ["state", info.state],
    ["lane", `${key(info.fairnessKey)}, weight ${info.weight}, tier ${info.tier}`],
    ["gates", info.gates.join(", ") || undefined],
    ["attempt", `${info.attempt} of ${info.attempts}`],
    ["deliveries", String(info.deliveries)],
    ["dead letter", info.dead === undefined ? undefined : deathOf(info.dead)],
    ["added", time(info.addedAt)],
    [AT[info.state] ?? "ended", info.at === undefined ? undefined : time(info.at)],
    ["worker", info.worker],
    ["steps", info.steps === undefined ? undefined : String(info.steps)],
    ["progress", info.progress === undefined ? undefined : JSON.stringify(info.progress)],
    ["error", info.error],
    ["headers", headers.join(", ") || undefined],
    ["payload", body],
    ["result", answer],
  ];
  const known = pairs.filter((pair): pair is [string, string] => pair[1] !== undefined);
  output.out(facts(known.map(([name, value]) => [name, printable(value, 1000)])));
  if (info.stack !== undefined) {
    output.out(
      `\nstack\n${info.stack
        .split("\n")
        .map((line) => printable(line))
        .join("\n")}`,
    );
  }
  return EXIT.well;
}

function deathOf({ origin, reason, attempts, at }: NonNullable<JobInfo["dead"]>): string {
  const count = attempts === 1 ? "1 attempt" : `${attempts} attempts`;
  return `from ${origin}, ${time(at)}, after ${count}: ${reason}`;
}
