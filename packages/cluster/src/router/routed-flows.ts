/**
 * Flows of a cluster. All jobs of a flow, and all that they wait for, are in one partition: there a
 * flow is one commit, and ends are seen in the order in which they happen.
 */
import {
  type AddFlowOptions,
  type Broker,
  type FlowAdded,
  type FlowJob,
  type OperationOptions,
  SluiceError,
} from "@sluice/protocol";
import { partitionOf } from "../partition-port/names.ts";
import type { PartitionCalls } from "./partition-calls.ts";
import type { QueueCopies } from "./queue-copies.ts";
import { slotOf } from "./routed-adds.ts";

export class RoutedFlows {
  readonly #calls: PartitionCalls;
  readonly #copies: QueueCopies;

  constructor(calls: PartitionCalls, copies: QueueCopies) {
    this.#calls = calls;
    this.#copies = copies;
  }

  async addFlow(
    queue: string,
    jobs: readonly FlowJob[],
    options: AddFlowOptions,
  ): Promise<FlowAdded> {
    const { flow } = options;
    const home = flow === undefined ? this.#homeOf(queue, jobs) : partitionOfFlow(flow);
    if (Array.isArray(jobs)) for (const job of jobs) this.#checkAt(home, job);
    return this.#copies.made(queue, home, (port) => port.addFlow(queue, jobs, options));
  }

  /** The partition of its first job, or of the queue that it is added under. */
  #homeOf(queue: string, jobs: readonly FlowJob[]): number {
    const [first] = Array.isArray(jobs) ? jobs : [];
    return this.#partitionOf(first ?? { queue });
  }

  #partitionOf({ queue, fairnessKey }: Pick<FlowJob, "queue" | "fairnessKey">): number {
    const placement = this.#calls.directory.addsTo(String(queue));
    return placement[slotOf({ fairnessKey }, placement.length)]!;
  }

  /** The broker refuses what is no job. */
  #checkAt(home: number, job: FlowJob): void {
    if (typeof job?.queue !== "string") return;
    const own = this.#partitionOf(job);
    if (own !== home) throw elsewhere(`queue ${job.queue} is in partition ${own}`, home);
  }

  async openFlow(queue: string, options: OperationOptions): Promise<{ flow: string }> {
    const home = this.#partitionOf({ queue });
    return this.#copies.made(queue, home, (port) => port.openFlow(queue, options));
  }

  async at<T>(flow: string, call: (port: Broker) => Promise<T>): Promise<T> {
    const partition = partitionOfFlow(flow);
    if (!this.#calls.isThere(partition)) {
      const message = `there is no flow ${JSON.stringify(flow)}`;
      throw new SluiceError("JOB_NOT_FOUND", message, { field: "flow", value: String(flow) });
    }
    return this.#calls.make(partition, call);
  }
}

function partitionOfFlow(flow: unknown): number {
  const text = String(flow);
  return partitionOf(text.slice(text.indexOf("/") + 1));
}

function elsewhere(where: string, home: number): SluiceError {
  const message =
    `a flow is in one partition of a cluster: ${where}, the flow in ${home}. ` +
    "Use one queue, or queues of one partition, for the jobs of a flow";
  return new SluiceError("INVALID", message, { field: "jobs", value: home });
}
