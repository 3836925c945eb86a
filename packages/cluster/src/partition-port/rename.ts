/** Puts the partition into what its broker says of jobs. */
import type {
  BrokerEvent,
  BrokerStats,
  ErrorJson,
  Failures,
  GroupInfo,
  IdPlace,
  LeasedJob,
  Outcome,
  Page,
  QueueTimes,
  ScheduleInfo,
  Why,
  WorkerInfo,
} from "@sluice/protocol";
import { whyText } from "@sluice/protocol";
import { outerName } from "./names.ts";

export class Rename {
  readonly #partition: number;

  constructor(partition: number) {
    this.#partition = partition;
  }

  /** Of a job or a lease; an add that was dropped has made no job, and its name is empty. */
  name(inner: string): string {
    return inner === "" ? "" : outerName(this.#partition, inner);
  }

  withId<T extends { id: string }>(item: T): T {
    return { ...item, id: this.name(item.id) };
  }

  leased(jobs: readonly LeasedJob[]): LeasedJob[] {
    return jobs.map((job) => ({ ...job, id: this.name(job.id), lease: this.name(job.lease) }));
  }

  /** An answer that has ids in the place that its call's row names. */
  answer(place: IdPlace | undefined, answer: unknown): unknown {
    if (place === "one") return this.withId(answer as { id: string });
    if (place === "items") {
      const page = answer as Page<{ id: string }>;
      return { ...page, items: page.items.map((item) => this.withId(item)) };
    }
    if (place === "schedule") return this.#schedule(answer as ScheduleInfo);
    if (place === "schedules") {
      const page = answer as Page<ScheduleInfo>;
      return { ...page, items: page.items.map((info) => this.#schedule(info)) };
    }
    if (place === "workers") return this.#workers(answer as readonly WorkerInfo[]);
    if (place === "failures") return this.#failures(answer as Failures);
    return place === "members" ? this.#withMembers(answer as GroupInfo) : answer;
  }

  #failures(failures: Failures): Failures {
    const items = failures.items.map((group) => ({
      ...group,
      example: this.withId(group.example),
    }));
    return { ...failures, items };
  }

  /** What each of them holds. */
  #workers(workers: readonly WorkerInfo[]): WorkerInfo[] {
    return workers.map((worker) => {
      const { jobs } = worker;
      return jobs === undefined ? worker : { ...worker, jobs: jobs.map((job) => this.withId(job)) };
    });
  }

  /** The last jobs of a schedule. */
  #schedule(info: ScheduleInfo): ScheduleInfo {
    const { lastTick, lastRun } = info;
    const id = lastTick?.id;
    return {
      ...info,
      ...(id === undefined ? {} : { lastTick: { ...lastTick!, id: this.name(id) } }),
      ...(lastRun === undefined ? {} : { lastRun: this.withId(lastRun) }),
    };
  }

  #withMembers<T extends Pick<GroupInfo, "members">>(info: T): T {
    return { ...info, members: info.members.map((member) => this.withId(member)) };
  }

  /** The jobs that another one waits for, in the words too. */
  why(why: Why): Why {
    if (why.state === "blocked") return this.#whyBlocked(why);
    if (why.state !== "waiting") return why;
    if (why.reason === "ordered") {
      const renamed = { ...why, ahead: this.name(why.ahead) };
      return { ...renamed, text: whyText(renamed, why.asOf) };
    }
    if (why.reason !== "gated") return why;
    const { first, holders, keptFor } = why;
    const renamed = {
      ...why,
      ...(first === undefined ? {} : { first: this.withId(first) }),
      ...(keptFor === undefined ? {} : { keptFor: this.withId(keptFor) }),
      ...(holders?.id === undefined ? {} : { holders: { ...holders, id: this.name(holders.id) } }),
    };
    return { ...renamed, text: whyText(renamed, why.asOf) };
  }

  #whyBlocked(why: Extract<Why, { state: "blocked" }>): Why {
    const renamed = {
      ...why,
      ...(why.for === undefined ? {} : { for: this.withId(why.for) }),
      ...(why.flow === undefined ? {} : { flow: this.name(why.flow) }),
    };
    return { ...renamed, text: whyText(renamed, why.asOf) };
  }

  /** A flow keeps its queue in front: `orders/7-c3k9`. */
  flow(flow: string): string {
    const slash = flow.indexOf("/");
    return `${flow.slice(0, slash + 1)}${this.name(flow.slice(slash + 1))}`;
  }

  event(event: BrokerEvent): BrokerEvent {
    if (event.event === "group-ended") return this.#withMembers(event);
    return "id" in event ? this.withId(event) : event;
  }

  stats(stats: BrokerStats): BrokerStats {
    const queues = stats.queues.map((times): QueueTimes => {
      const { oldest } = times;
      return oldest === undefined ? times : { ...times, oldest: this.withId(oldest) };
    });
    return { ...stats, queues };
  }

  outcome<T>(outcome: Outcome<T>, inner: string): Outcome<T> {
    return outcome.error === undefined ? outcome : { error: this.error(outcome.error, inner) };
  }

  /** A refusal that names a job, in words and in its details. */
  error(error: ErrorJson, inner: string): ErrorJson {
    const id = inner.replace(/\..*/s, "");
    if (id === "") return error;
    const message = error.message
      .replace(`job ${id}`, () => `job ${this.name(id)}`)
      .replace(JSON.stringify(inner), () => JSON.stringify(this.name(inner)));
    const value = error.details?.value;
    if (value !== id && value !== inner) return { ...error, message };
    return { ...error, message, details: { ...error.details, value: this.name(value) } };
  }
}
