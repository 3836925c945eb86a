import {
  allQueues,
  type Broker,
  JOB_STATES,
  type QueueInfo,
  type QueueOptions,
} from "@sluice/protocol";
import { carried } from "../carried.ts";
import {
  type Call,
  type Command,
  EXIT,
  Misuse,
  tell,
  textOf,
  wholeOf,
  wordsOf,
} from "../command.ts";
import { settingsOf } from "../settings.ts";
import { count, counted, duration, facts, key, percent, printable, table, time } from "../show.ts";
import { connected, TARGET, TARGET_USAGE } from "../target.ts";
import { workers } from "./queue-workers.ts";

const VERBS = [
  "list",
  "show",
  "set",
  "delete",
  "pause",
  "resume",
  "purge",
  "lanes",
  "workers",
  "jobs",
];
const PAGE = 20;

export const queueCommand: Command = {
  name: "queue",
  verbs: VERBS,
  usage: `sluice queue [list]               all queues, with what waits and what runs
sluice queue show QUEUE           its figures and how it is configured
sluice queue set QUEUE name=value ...
                                  makes it, or changes the named options:
                                  lease=60s retry.attempts=3 tiers='["fast","slow"]'
sluice queue delete QUEUE --yes   with all its jobs, for good; reports its dead letters
sluice queue pause | resume QUEUE
sluice queue purge QUEUE --yes    removes what waits
sluice queue lanes QUEUE          shares owed and received, the fullest first
sluice queue workers [QUEUE]      connected workers, where they run, what they hold and since
                                  when; without QUEUE those of all queues
sluice queue jobs QUEUE           its jobs

  --state STATE          jobs: ${JOB_STATES.slice(0, 5).join(", ")},
                         ${JOB_STATES.slice(5).join(", ")}
  --search TEXT          lanes: those whose key has it; workers: those whose name has it
  --limit N              lanes and jobs: how many (default ${PAGE});
                         workers: jobs listed of each (default 5)
  --dead-letters WHAT    delete: keep (default) or delete those in its dead letter queue
  --yes                  do it without asking
${TARGET_USAGE}`,
  options: {
    ...TARGET,
    state: { type: "string" },
    search: { type: "string" },
    limit: { type: "string" },
    "dead-letters": { type: "string" },
    yes: { type: "boolean", short: "y" },
  },
  run: (call) => connected(call, ({ broker }) => act(call, broker)),
};

async function act(call: Call, broker: Broker): Promise<number> {
  const [verb = "list", ...rest] = call.words;
  switch (verb) {
    case "list":
      return list(call, broker);
    case "set":
      return set(call, broker, rest);
    case "show":
      return show(call, await broker.queue(wordsOf(rest, "QUEUE")[0]));
    case "lanes":
      return lanes(call, broker, wordsOf(rest, "QUEUE")[0]);
    case "workers":
      return workers(call, broker, rest);
    case "delete":
      return remove(call, broker, wordsOf(rest, "QUEUE")[0]);
    case "jobs":
      return jobs(call, broker, wordsOf(rest, "QUEUE")[0]);
    default:
      return operate(call, broker, verb, rest);
  }
}

async function operate(
  call: Call,
  broker: Broker,
  verb: string,
  rest: readonly string[],
): Promise<number> {
  const acts: Readonly<Record<string, (queue: string) => Promise<unknown>>> = {
    purge: (queue) => broker.purge(queue),
    pause: (queue) => broker.setQueue(queue, { paused: true }),
    resume: (queue) => broker.setQueue(queue, { paused: false }),
  };
  const does = Object.hasOwn(acts, verb) ? acts[verb] : undefined;
  if (does === undefined) throw new Misuse(`"${verb}" is not one of ${VERBS.join(", ")}`);
  const [queue] = wordsOf(rest, "QUEUE");
  if (verb === "purge") demandYes(call, verb);
  // Pausing a queue that does not exist would create it.
  await broker.queue(queue);
  await does(queue);
  return tell(call, { queue, done: verb }, () => `${queue}: ${verb} done`);
}

function demandYes(call: Call, verb: string): void {
  if (call.values.yes === true) return;
  throw new Misuse(`${verb} removes jobs for good: add --yes to do it`);
}

async function remove(call: Call, broker: Broker, queue: string): Promise<number> {
  const text = textOf(call, "dead-letters") ?? "keep";
  const deadLetters = (["keep", "delete"] as const).find((known) => known === text);
  if (deadLetters === undefined) {
    throw new Misuse(`--dead-letters is keep or delete, got ${text}`);
  }
  demandYes(call, "delete");
  const { lettersKept, lettersDeleted } = await broker.deleteQueue(queue, { deadLetters });
  const kept = `dead letters kept: ${count(lettersKept)}, deleted: ${count(lettersDeleted)}`;
  const done = { queue, done: "delete", lettersKept, lettersDeleted };
  return tell(call, done, () => `${queue}: delete done (${kept})`);
}

async function list(call: Call, broker: Broker): Promise<number> {
  const [queues, { missing = [] }] = await Promise.all([
    allQueues(broker, { partial: true }),
    broker.stats(),
  ]);
  if (missing.length > 0) {
    const names = missing.join(", ");
    call.output.progress.write(`no answer from partition ${names}: what it holds is not shown\n`);
  }
  return tell(call, queues, () => {
    if (queues.length === 0)
      return 'no queues yet: sluice add QUEUE \'{"hello":"world"}\' --create';
    return table(COLUMNS, queues.map(rowOf));
  });
}

const COLUMNS = [
  ...["queue", ">waiting", ">delayed", ">running", ">finished", ">failed", ">dead", ">lanes"],
  ...[">free workers", ""],
];

function rowOf({ name, stats }: QueueInfo): string[] {
  const { waiting, delayed, running, finished, failed, dead, lanes, freeWorkers, paused } = stats;
  const figures = [waiting, delayed, running, finished, failed, dead, lanes, freeWorkers];
  return [name, ...figures.map(count), paused ? "paused" : ""];
}

function show({ isJson, output }: Call, info: QueueInfo): number {
  if (isJson) {
    output.out(JSON.stringify(info));
    return EXIT.well;
  }
  const { config, stats } = info;
  const { retry, capacity } = config;
  const tiers = stats.perTier.map(({ name, waiting }) => `${name} ${count(waiting)}`).join(", ");
  output.out(table(COLUMNS, [rowOf(info)]));
  output.out(
    `\n${facts([
      ["waiting by tier", tiers],
      ["payload bytes", count(stats.bytes)],
      [
        "capacity",
        `${counted(capacity.jobs, "job")}, ${counted(capacity.bytes, "byte")}, ${config.onFull}`,
      ],
      ["lease", duration(config.lease)],
      ["retry", retryText(retry)],
      ["dead letters", config.dlq === false ? "dropped" : config.dlq],
      [
        "letters kept here",
        config.retention === null ? "until someone ends them" : duration(config.retention),
      ],
      ["results kept", `${counted(config.results.jobs, "job")}, ${duration(config.results.ttl)}`],
    ])}`,
  );
  return EXIT.well;
}

function retryText({ attempts, deliveries, min, max }: QueueInfo["config"]["retry"]): string {
  const times = `${duration(min)} to ${duration(max)}`;
  const most = counted(deliveries, "delivery", "deliveries");
  return `${counted(attempts, "attempt")}, ${times}, at most ${most}`;
}

async function set(call: Call, broker: Broker, rest: readonly string[]): Promise<number> {
  const [queue, ...pairs] = rest;
  if (queue === undefined) throw new Misuse("QUEUE is needed");
  const info = await broker.setQueue(queue, settingsOf(pairs) as QueueOptions);
  return show(call, info);
}

async function lanes(call: Call, broker: Broker, queue: string): Promise<number> {
  const search = textOf(call, "search");
  const limit = wholeOf(call, "limit", 1) ?? PAGE;
  const { items } = await broker.lanes(queue, {
    limit,
    sort: "waiting",
    ...(search === undefined ? {} : { search }),
  });
  const figures = [
    ">tier",
    ">weight",
    ">waiting",
    ">running",
    ">waits",
    ">received",
    ">owed",
    ">got",
  ];
  const rows = items.map((lane) => [
    key(lane.key),
    String(lane.tier),
    String(lane.weight),
    count(lane.waiting),
    count(lane.running),
    lane.wait === undefined ? "" : duration(Math.round(lane.wait)),
    count(lane.received),
    percent(lane.shareOwed),
    percent(lane.shareReceived),
  ]);
  return tell(call, items, () => table(["lane", ...figures], rows));
}

async function jobs(call: Call, broker: Broker, queue: string): Promise<number> {
  const text = textOf(call, "state");
  const state = JOB_STATES.find((known) => known === text);
  if (text !== undefined && state === undefined) {
    throw new Misuse(`--state must be one of ${JOB_STATES.join(", ")}, got ${text}`);
  }
  const limit = wholeOf(call, "limit", 1) ?? PAGE;
  const { items } = await broker.jobs(queue, { limit, ...(state === undefined ? {} : { state }) });
  if (call.isJson) {
    for (const job of items) call.output.out(JSON.stringify(carried(job)));
    return EXIT.well;
  }
  const columns = ["job", "state", "lane", "attempt", "added", "payload"];
  const rows = items.map((job) => [
    job.id,
    job.state,
    key(job.fairnessKey),
    `${job.attempt} of ${job.attempts}`,
    time(job.addedAt),
    printable(Buffer.from(job.payload).toString(), 60),
  ]);
  call.output.out(table(columns, rows));
  return EXIT.well;
}
