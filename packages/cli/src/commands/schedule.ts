import type { SluiceHandles } from "@sluice/client";
import type { ScheduleInfo, ScheduleOptions } from "@sluice/protocol";
import { type Call, type Command, Misuse, tell, wordsOf } from "../command.ts";
import { settingsOf } from "../settings.ts";
import { count, duration, printable, table, time } from "../show.ts";
import { connected, TARGET, TARGET_USAGE } from "../target.ts";

const VERBS = ["list", "show", "set", "pause", "resume", "run", "backfill", "delete"];

export const scheduleCommand: Command = {
  name: "schedule",
  verbs: VERBS,
  usage: `sluice schedule [list]                   all schedules: next run, last tick, last outcome
sluice schedule show NAME
sluice schedule set NAME name=value ...  queue=reports cron='0 3 * * *' timezone=Europe/Berlin
                                         payload='{"kind":"sales"}', or every=15m; replaces its options
sluice schedule pause NAME               its ticks are skipped
sluice schedule resume NAME
sluice schedule run NAME                 adds a job now, beside its ticks
sluice schedule backfill NAME FROM TO    adds a job for each tick between two past times (ISO 8601)
sluice schedule delete NAME              jobs that it has added stay
  --queue QUEUE    whose schedule, where several queues have one of that name

${TARGET_USAGE}`,
  options: { ...TARGET, queue: { type: "string" } },
  run: (call) => connected(call, ({ sluice }) => act(call, sluice)),
};

async function act(call: Call, sluice: SluiceHandles): Promise<number> {
  const [verb = "list", ...rest] = call.words;
  const queue = call.values.queue as string | undefined;
  if (verb === "list") {
    const filter = queue === undefined ? {} : { queue };
    return show(call, await Array.fromAsync(sluice.schedules(filter)));
  }
  if (!VERBS.includes(verb)) throw new Misuse(`"${verb}" is not one of ${VERBS.join(", ")}`);
  if (verb === "set") return set(call, sluice, rest, queue);
  const words = verb === "backfill" ? wordsOf(rest, "NAME", "FROM", "TO") : wordsOf(rest, "NAME");
  const schedule = await sluice.schedule(words[0]!, queue === undefined ? {} : { queue });
  switch (verb) {
    case "pause":
    case "resume":
    case "delete":
      await schedule[verb]();
      return tell(call, { ok: true }, () => `${schedule.name} is ${verb}d`);
    case "run": {
      const { id } = await schedule.run();
      return tell(call, { id }, () => `added job ${id}`);
    }
    case "backfill": {
      const added = await schedule.backfill(timeOf(words[1]!), timeOf(words[2]!));
      return tell(call, { added }, () => `added ${count(added)} jobs`);
    }
    default:
      return show(call, [await schedule.info()]);
  }
}

function timeOf(word: string): Date {
  const time = new Date(word);
  if (!Number.isNaN(time.getTime())) return time;
  throw new Misuse(`a time such as 2026-03-01T03:00:00Z is needed, got ${JSON.stringify(word)}`);
}

async function set(
  call: Call,
  sluice: SluiceHandles,
  [name, ...pairs]: readonly string[],
  flag: string | undefined,
): Promise<number> {
  if (name === undefined || pairs.length === 0) throw new Misuse("NAME and name=value are needed");
  // A cron expression has no other form than its text.
  const isCron = (pair: string): boolean => pair.startsWith("cron=");
  const { queue = flag, ...options } = settingsOf(pairs.filter((pair) => !isCron(pair)));
  if (typeof queue !== "string") throw new Misuse("queue=QUEUE is needed");
  const cron = pairs.find(isCron)?.slice("cron=".length);
  const plan = cron === undefined ? {} : { cron };
  // With its queue alone it would be looked up.
  if (pairs.every((pair) => pair.startsWith("queue="))) {
    throw new Misuse("one of cron=EXPRESSION, every=DURATION and at=TIMES is needed");
  }
  const schedule = await sluice.schedule(name, { ...(options as ScheduleOptions), ...plan, queue });
  return show(call, [await schedule.info()]);
}

const COLUMNS = ["schedule", "queue", "plan", "next", "last tick", "last run", ">running"];

function show(call: Call, schedules: readonly ScheduleInfo[]): number {
  return tell(call, schedules, () => {
    if (schedules.length === 0) {
      return "no schedules yet: sluice schedule set nightly queue=reports cron='0 3 * * *'";
    }
    return table(COLUMNS, schedules.map(rowOf));
  });
}

function rowOf(schedule: ScheduleInfo): string[] {
  const { lastTick, lastRun, next } = schedule;
  return [
    schedule.name,
    schedule.queue,
    planOf(schedule),
    schedule.paused ? "paused" : next[0] === undefined ? "over" : time(next[0]),
    lastTick === undefined ? "" : `${time(lastTick.tick)} ${lastTick.outcome}`,
    lastRun === undefined ? "" : printable(`${lastRun.state} ${lastRun.error ?? ""}`.trim(), 60),
    count(schedule.running),
  ];
}

function planOf({ config: { cron, timezone, every, at } }: ScheduleInfo): string {
  if (cron !== undefined) return timezone === undefined ? cron : `${cron} (${timezone})`;
  return every === undefined ? `${count(at?.length ?? 0)} times` : `every ${duration(every)}`;
}
