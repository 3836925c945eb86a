/** Who works: the workers of one queue or of all, and what they hold since when. */
import { allWorkers, type Broker, type HeldJob, type WorkerInfo } from "@sluice/protocol";
import { type Call, Misuse, tell, textOf, wholeOf } from "../command.ts";
import { count, printable, table, time } from "../show.ts";

/** Jobs of each worker, unless more are asked for. */
const JOBS = 5;

const COLUMNS = [
  ...["worker", "queue", "host", ">process", "version", "connected", ">free", ">holds"],
  ...["job", "held since"],
];

export async function workers(
  call: Call,
  broker: Broker,
  words: readonly string[],
): Promise<number> {
  const [queue, ...more] = words;
  if (more.length > 0) throw new Misuse(`QUEUE is one name, got ${words.join(" ")}`);
  const jobs = wholeOf(call, "limit", 1) ?? JOBS;
  const search = textOf(call, "search") ?? "";
  const found =
    queue === undefined
      ? await allWorkers(broker, { search, jobs, partial: true })
      : (await broker.workers(queue, { jobs })).filter(({ name }) => name.includes(search));
  return tell(call, found, () => table(COLUMNS, found.flatMap(rowsOf)));
}

/** A row, and one more for each further job that the worker holds. */
function rowsOf({ jobs = [], ...worker }: WorkerInfo): string[][] {
  const { name, queue, place, since, free, running } = worker;
  const [first, ...others] = jobs;
  const own = [
    printable(name),
    printable(queue),
    printable(place?.host ?? ""),
    place === undefined ? "" : String(place.process),
    printable(place?.version ?? ""),
    since === undefined ? "" : time(since),
    count(free),
    count(running),
  ];
  const blank = own.map(() => "");
  const rows = others.map((job) => [...blank, ...held(job)]);
  const left = running - jobs.length;
  const rest = jobs.length > 0 && left > 0 ? [[...blank, `and ${count(left)} more`]] : [];
  return [[...own, ...(first === undefined ? [] : held(first))], ...rows, ...rest];
}

function held({ id, since }: HeldJob): string[] {
  return [id, time(since)];
}
