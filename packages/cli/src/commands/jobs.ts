import { setTimeout as sleep } from "node:timers/promises";
import {
  type Broker,
  BULK_ACTIONS,
  type BulkAction,
  type BulkInfo,
  type BulkOptions,
  type FoundJob,
} from "@sluice/protocol";
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
import { FILTER_FLAGS, FILTER_USAGE, filterOf, neededFilterOf } from "../job-filter-flags.ts";
import { counted, count as grouped, key, printable, table, time } from "../show.ts";
import { connected, TARGET, TARGET_USAGE } from "../target.ts";

const PAGE = 20;
const LOOK_MS = 200;
const VERBS = ["find", "count", "failures", ...BULK_ACTIONS, "bulk", "stop"];

export const jobsCommand: Command = {
  name: "jobs",
  verbs: VERBS,
  usage: `sluice jobs [find] [FILTER]       jobs of all queues, the newest first
sluice jobs count [FILTER]        how many, by state and queue
sluice jobs failures [FILTER]     failed jobs by error, with --queue and --since
sluice jobs retry | cancel | delete | run | move FILTER --yes
                                  all jobs that match FILTER; without --yes it only counts
sluice jobs bulk [ID]             these actions and their progress
sluice jobs stop ID               stops one; what it has done stays done

${FILTER_USAGE}
  --limit N              how many are listed (default ${PAGE})
  --oldest               the oldest first
  --to QUEUE             retry, move: the queue that they go to
  --payload JSON         retry: instead of their own
  --yes                  do it
${TARGET_USAGE}`,
  options: {
    ...TARGET,
    ...FILTER_FLAGS,
    limit: { type: "string" },
    oldest: { type: "boolean" },
    to: { type: "string" },
    payload: { type: "string" },
    yes: { type: "boolean", short: "y" },
  },
  run: (call) => connected(call, ({ broker }) => act(call, broker)),
};

async function act(call: Call, broker: Broker): Promise<number> {
  const [verb = "find", ...rest] = call.words;
  if (verb === "bulk") return rest.length === 0 ? listed(call, broker) : shown(call, broker, rest);
  if (verb === "stop") return toldBulk(call, await broker.stopBulk(wordsOf(rest, "ID")[0]));
  if (rest.length > 0) throw new Misuse(`${verb} takes no words: jobs are named by flags`);
  if (verb === "find") return find(call, broker);
  if (verb === "count") return countJobs(call, broker);
  if (verb === "failures") return failures(call, broker);
  const action = BULK_ACTIONS.find((known) => known === verb);
  if (action !== undefined) return bulk(call, broker, action);
  throw new Misuse(`there is no \`jobs ${verb}\``);
}

async function find(call: Call, broker: Broker): Promise<number> {
  const limit = wholeOf(call, "limit", 1) ?? PAGE;
  const order = call.values.oldest === true ? "oldest" : "newest";
  const filter = filterOf(call, Date.now());
  const items: FoundJob[] = [];
  let cursor: string | undefined;
  // A scan of payloads answers in parts; any other search fills its page at once.
  do {
    const from = cursor === undefined ? {} : { cursor };
    const page = await broker.findJobs({ ...filter, order, limit: limit - items.length, ...from });
    items.push(...page.items);
    ({ cursor } = page);
  } while (cursor !== undefined && items.length < limit && !call.stop.aborted);
  return tell(call, { items, ...(cursor === undefined ? {} : { cursor }) }, () => {
    if (items.length === 0) return "no jobs";
    const rows = items.map((job) => [
      ...[job.id, job.queue, job.state, key(job.fairnessKey), time(job.changedAt)],
      printable(job.error ?? job.preview, 60),
    ]);
    return table(["id", "queue", "state", "lane", "since", "error or payload"], rows);
  });
}

async function countJobs(call: Call, broker: Broker): Promise<number> {
  const filter = filterOf(call, Date.now());
  let page = await broker.countJobs(filter);
  let { count } = page;
  const states = new Map(Object.entries(page.states));
  while (page.cursor !== undefined && !call.stop.aborted) {
    page = await broker.countJobs({ ...filter, cursor: page.cursor });
    count += page.count;
    for (const [state, more] of Object.entries(page.states)) {
      states.set(state, (states.get(state) ?? 0) + more);
    }
  }
  return tell(call, { count, states: Object.fromEntries(states) }, () => {
    const parts = Array.from(states, ([state, jobs]) => `${grouped(jobs)} ${state}`);
    return `${counted(count, "job", "jobs")}${parts.length > 0 ? `: ${parts.join(", ")}` : ""}`;
  });
}

async function failures(call: Call, broker: Broker): Promise<number> {
  const { queues, since } = filterOf(call, Date.now());
  const limit = wholeOf(call, "limit", 1) ?? PAGE;
  const found = await broker.failures({ queues, since, limit });
  return tell(call, found, () => {
    if (found.items.length === 0) return "no failures";
    const rows = found.items.map((group) => [
      ...[
        group.id,
        grouped(group.jobs),
        grouped(group.retrying),
        time(group.lastAt),
        group.example.id,
      ],
      printable(group.error, 60),
    ]);
    return table(["failure", ">jobs", ">retrying", "last", "example", "error"], rows);
  });
}

async function bulk(call: Call, broker: Broker, action: BulkAction): Promise<number> {
  const to = textOf(call, "to");
  const payload = textOf(call, "payload");
  const options: BulkOptions = {
    ...(to === undefined ? {} : { to }),
    ...(payload === undefined ? {} : { payload: parsed(payload) }),
  };
  const filter = neededFilterOf(call, Date.now());
  if (action === "move" && to === undefined) throw new Misuse("--to QUEUE is needed");
  if (call.values.yes !== true) {
    const info = await broker.startBulk(action, filter, { ...options, dryRun: true });
    const jobs = info.matched === undefined ? "jobs" : counted(info.matched, "job", "jobs");
    return tell(call, info, () => `would ${action} ${jobs}: add --yes to do it`);
  }
  let info = await broker.startBulk(action, filter, options);
  while (info.state === "running" && !call.stop.aborted) {
    await sleep(LOOK_MS, undefined, { signal: call.stop }).catch(() => {});
    info = await broker.bulk(info.id);
    call.output.progress.write(`${info.done} of ${info.matched ?? "?"}\n`);
  }
  return toldBulk(call, info);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Misuse(`--payload is JSON, got ${JSON.stringify(text)}`);
  }
}

async function shown(call: Call, broker: Broker, rest: readonly string[]): Promise<number> {
  return toldBulk(call, await broker.bulk(wordsOf(rest, "ID")[0]));
}

async function listed(call: Call, broker: Broker): Promise<number> {
  const bulks = await broker.bulks();
  return tell(call, { items: bulks }, () => {
    if (bulks.length === 0) return "no actions";
    const rows = bulks.map((info) => [
      ...[info.id, info.action, info.state, grouped(info.done), grouped(info.refused)],
      ...[time(info.startedAt), info.by ?? ""],
    ]);
    return table(["id", "action", "state", ">done", ">refused", "started", "by"], rows);
  });
}

function toldBulk(call: Call, info: BulkInfo): number {
  const { id, action, state, done, refused, refusal } = info;
  tell(call, info, () => {
    const why = refused === 0 ? "" : `, ${counted(refused, "job", "jobs")} refused: ${refusal}`;
    return `${id} ${action} ${state}: ${counted(done, "job", "jobs")}${why}`;
  });
  return refused === 0 ? EXIT.well : EXIT.wrong;
}
