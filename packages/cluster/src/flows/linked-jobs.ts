/** Shows the jobs of other partitions in the place of those that stand for them. */
import {
  type Broker,
  type DependencyInfo,
  type JobInfo,
  PAGE_MAX,
  type Page,
  type PageOptions,
  toSluiceError,
  type Why,
  whyText,
} from "@sluice/protocol";
import type { PartitionCalls } from "../router/partition-calls.ts";
import { partitionOfJob } from "../router/plain-calls.ts";
import { LINKS, linkJobOf } from "./link-jobs.ts";

/** Jobs that are looked up together. */
const AT_ONCE = 64;

export class LinkedJobs {
  readonly #calls: PartitionCalls;
  /** A client may not look at the jobs that stand for others: it asks a node. */
  readonly #anyNode: Broker | undefined;

  constructor(calls: PartitionCalls, anyNode: Broker | undefined) {
    this.#calls = calls;
    this.#anyNode = anyNode;
  }

  async dependencies(id: string, options?: PageOptions): Promise<Page<DependencyInfo>> {
    const page = await this.#page("dependencies", id, options);
    if (page.items.every(({ queue }) => queue !== LINKS)) return page;
    if (this.#anyNode !== undefined) return this.#anyNode.dependencies(id, options);
    return this.#replaced(page, (info) => this.#standsFor(info));
  }

  /** A message has one stand-in, and those that wait for it are all in one answer. */
  async dependents(id: string, options?: PageOptions): Promise<Page<DependencyInfo>> {
    const page = await this.#page("dependents", id, options);
    if (page.items.every(({ queue }) => queue !== LINKS)) return page;
    if (this.#anyNode !== undefined) return this.#anyNode.dependents(id, options);
    return this.#replaced(page, (info) => this.#waitBehind(info));
  }

  async why(id: string, why: Blocked): Promise<Why> {
    const one = why.for;
    if (one?.queue !== LINKS) return why;
    if (this.#anyNode !== undefined) return this.#anyNode.why(id);
    const standIn = await this.#known(one.id);
    const link = standIn === undefined ? undefined : linkJobOf(standIn.headers);
    if (link?.kind !== "stand-in") return why;
    const { for: _, ...rest } = why;
    const renamed =
      link.isSeal === true ? await this.#unsealed(rest, link.of) : await this.#for(rest, link.of);
    return { ...renamed, text: whyText(renamed, why.asOf) };
  }

  async #for(why: Blocked, id: string): Promise<Blocked> {
    const job = await this.#known(id);
    const told = job === undefined ? {} : { queue: job.queue, state: job.state };
    return { ...why, for: { id, ...told } };
  }

  /** Its flow is not sealed, as the home of the flow knows. */
  async #unsealed(why: Blocked, id: string): Promise<Blocked> {
    const open = why.open - 1;
    const home = partitionOfJob(this.#calls, id);
    const seal = await this.#calls.ask(home, (port) => port.why(id)).catch(ignoreUnknown);
    if (seal?.state !== "blocked" || seal.flow === undefined) return { ...why, open };
    const until = seal.until === undefined ? {} : { until: seal.until };
    return { ...why, open, flow: seal.flow, ...until };
  }

  #page(
    name: "dependencies" | "dependents",
    id: string,
    options?: PageOptions,
  ): Promise<Page<DependencyInfo>> {
    return this.#calls.ask(partitionOfJob(this.#calls, id), (port) => port[name](id, options));
  }

  async #replaced(
    page: Page<DependencyInfo>,
    shown: (info: DependencyInfo) => Promise<readonly DependencyInfo[]>,
  ): Promise<Page<DependencyInfo>> {
    const items: DependencyInfo[] = [];
    for (let from = 0; from < page.items.length; from += AT_ONCE) {
      const some = page.items.slice(from, from + AT_ONCE);
      const all = await Promise.all(
        some.map((info) => (info.queue === LINKS ? shown(info) : [info])),
      );
      items.push(...all.flat());
    }
    return { ...page, items };
  }

  /** The job for which a stand-in stands; of a flow that is not sealed there is nothing to show. */
  async #standsFor(info: DependencyInfo): Promise<readonly DependencyInfo[]> {
    const standIn = await this.#known(info.id);
    const link = standIn === undefined ? undefined : linkJobOf(standIn.headers);
    if (link?.kind !== "stand-in") return [];
    if (link.isSeal === true) return [];
    const { queue: _, ...rest } = info;
    const job = await this.#known(link.of);
    if (job === undefined) return [{ ...rest, id: link.of }];
    const { queue, state, error } = job;
    return [{ ...rest, id: link.of, queue, state, ...(error === undefined ? {} : { error }) }];
  }

  /** The jobs that wait for the stand-in of a message. */
  async #waitBehind(info: DependencyInfo): Promise<readonly DependencyInfo[]> {
    const message = await this.#known(info.id);
    const link = message === undefined ? undefined : linkJobOf(message.headers);
    if (link?.kind !== "message") return [];
    const found: DependencyInfo[] = [];
    let cursor: string | undefined;
    try {
      do {
        const options = cursor === undefined ? {} : { cursor };
        const page = await this.#page("dependents", link.tells, options);
        found.push(...page.items);
        ({ cursor } = page);
      } while (cursor !== undefined && found.length < PAGE_MAX);
    } catch (error) {
      ignoreUnknown(error);
    }
    return found;
  }

  #job(id: string): Promise<JobInfo> {
    return this.#calls.ask(partitionOfJob(this.#calls, id), (port) => port.job(id));
  }

  /** Undefined when the job is not kept any more. */
  #known(id: string): Promise<JobInfo | undefined> {
    return this.#job(id).catch(ignoreUnknown);
  }
}

type Blocked = Extract<Why, { state: "blocked" }>;

function ignoreUnknown(error: unknown): undefined {
  if (toSluiceError(error).code !== "JOB_NOT_FOUND") throw error;
}
