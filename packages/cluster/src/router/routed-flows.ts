/**
 * Flows of a cluster. One whose jobs, and all that they wait for, are in one partition is one
 * commit there. Any other is a flow over several partitions (`CrossFlow`).
 */
import {
  type Broker,
  type FlowAdded,
  type FlowJob,
  type OperationOptions,
  queueOfGroup,
  SluiceError,
} from "@sluice/protocol";
import { noteCancel } from "../flows/cancel-over.ts";
import type { FlowLinks } from "../flows/flow-links.ts";
import { LINKS } from "../flows/link-jobs.ts";
import { partitionOf } from "../partition-port/names.ts";
import { CrossFlow, type CrossFlowOptions } from "./cross-flow.ts";
import type { PartitionCalls } from "./partition-calls.ts";
import type { QueueCopies } from "./queue-copies.ts";
import { slotOf, waitsElsewhere } from "./routed-adds.ts";

export class RoutedFlows {
  readonly #calls: PartitionCalls;
  readonly #copies: QueueCopies;
  readonly #links: FlowLinks;

  constructor(calls: PartitionCalls, copies: QueueCopies, links: FlowLinks) {
    this.#calls = calls;
    this.#copies = copies;
    this.#links = links;
  }

  async addFlow(
    named: string,
    jobs: readonly FlowJob[],
    options: CrossFlowOptions,
  ): Promise<FlowAdded> {
    // An open flow is at home where its own queue is.
    const queue = options.flow === undefined ? named : queueOfGroup(String(options.flow));
    const partitions = this.#partitionsOf(jobs);
    const home = this.#homeOf(queue, options.flow, partitions);
    if (this.#isWithin(home, jobs, partitions)) {
      return this.#copies.made(queue, home, (port) => port.addFlow(queue, jobs, options));
    }
    const of = { calls: this.#calls, copies: this.#copies, links: this.#links };
    const flow = { queue, home, jobs, partitions };
    return new CrossFlow(of, flow, options).add();
  }

  /** Whether a flow is in one partition. */
  isLocal(queue: string, jobs: readonly FlowJob[], flow: string | undefined): boolean {
    const partitions = this.#partitionsOf(jobs);
    return this.#isWithin(this.#homeOf(queue, flow, partitions), jobs, partitions);
  }

  #partitionsOf(jobs: readonly FlowJob[]): number[] {
    return Array.isArray(jobs)
      ? (jobs as readonly FlowJob[]).map((job) => this.#partitionOf(job))
      : [];
  }

  #isWithin(home: number, jobs: readonly FlowJob[], partitions: readonly number[]): boolean {
    return partitions.every((own, i) => own === home && !waitsElsewhere(this.#links, own, jobs[i]));
  }

  /** That of an open flow; else that of all its jobs, if its queue is there; else of its queue. */
  #homeOf(queue: string, flow: string | undefined, partitions: readonly number[]): number {
    if (flow !== undefined) return this.#partitionOfFlow(flow);
    const [first] = partitions;
    const isOne = first !== undefined && partitions.every((one) => one === first);
    const isThere = this.#calls.directory.addsTo(String(queue)).includes(first ?? -1);
    return isOne && isThere ? first : this.#partitionOf({ queue });
  }

  #partitionOf(job: Partial<Pick<FlowJob, "queue" | "fairnessKey">> | undefined): number {
    const placement = this.#calls.directory.addsTo(String(job?.queue));
    return placement[slotOf({ fairnessKey: job?.fairnessKey }, placement.length)]!;
  }

  async openFlow(queue: string, options: OperationOptions): Promise<{ flow: string }> {
    const home = this.#partitionOf({ queue });
    return this.#copies.made(queue, home, (port) => port.openFlow(queue, options));
  }

  async at<T>(flow: string, call: (port: Broker) => Promise<T>): Promise<T> {
    return this.#calls.make(this.#partitionOfFlow(flow), call);
  }

  /** Before a job is cancelled with what it waits for: notes what of that is elsewhere. */
  async noteCancel(id: unknown): Promise<void> {
    const { directory } = this.#calls;
    const partition = partitionOf(id);
    if (!directory.isPlaced(LINKS) || !directory.placementOf(LINKS).includes(partition)) return;
    await this.#calls.make(partition, (port) => noteCancel(port, id as string));
  }

  #partitionOfFlow(flow: string): number {
    const text = String(flow);
    const partition = partitionOf(text.slice(text.indexOf("/") + 1));
    if (this.#calls.isThere(partition)) return partition;
    const message = `there is no flow ${JSON.stringify(flow)}`;
    throw new SluiceError("JOB_NOT_FOUND", message, { field: "flow", value: text });
  }
}
