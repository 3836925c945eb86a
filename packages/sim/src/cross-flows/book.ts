// What is known of the jobs of a world of flows over partitions, and what must hold of them.

import type { OnDependencyFailure } from "@sluice/protocol";

export interface Edge {
  readonly id: string;
  readonly on: OnDependencyFailure;
}

interface Known {
  readonly after: readonly Edge[];
  readonly isCancelled: boolean;
  hasFinished: boolean;
  hasFailed: boolean;
}

export class CrossFlowBook {
  readonly jobs = new Map<string, Known>();

  add(id: string, after: readonly Edge[], isCancelled = false): void {
    this.jobs.set(id, { after, isCancelled, hasFinished: false, hasFailed: false });
  }

  ended(id: string, how: "finished" | "failed"): void {
    const job = this.jobs.get(id);
    if (how === "finished") job!.hasFinished = true;
    else job!.hasFailed = true;
  }

  // What is wrong with the delivery of a job, and with the results that it reads.
  delivered(id: string, results: ReadonlyMap<string, string | undefined>): string | undefined {
    const job = this.jobs.get(id);
    if (job === undefined) return `job ${id} is delivered, and was never added`;
    if (job.isCancelled) return `job ${id} runs, and its flow was never sealed`;
    for (const { id: of, on } of job.after) {
      const { hasFinished, hasFailed } = this.jobs.get(of)!;
      if (!hasFinished && !(on === "run" && this.#canFail(of))) {
        return `job ${id} runs before job ${of}, which it waits for (${on})`;
      }
      if (!results.has(of)) return `job ${id} does not know of job ${of}, which it waits for`;
      const result = results.get(of);
      if (hasFinished && !hasFailed && result !== of) {
        return `job ${id} reads ${result} as the result of job ${of}`;
      }
    }
    const known = new Set(job.after.map(({ id: of }) => of));
    const other = [...results.keys()].find((of) => !known.has(of));
    return other === undefined ? undefined : `job ${id} is said to wait for job ${other}`;
  }

  // What is wrong with the state of a job when there is nothing left to do.
  judge(id: string, state: string): string | undefined {
    const { isCancelled, hasFinished, hasFailed, after } = this.jobs.get(id)!;
    if (isCancelled) {
      // It may have failed by a job that it waits for, before it was cancelled itself.
      if (state === "failed" && after.some(({ on }) => on === "fail")) return undefined;
      return state === "cancelled" ? undefined : `job ${id} of a cancelled flow is ${state}`;
    }
    if (state === "blocked") {
      return this.#isStuck(id)
        ? undefined
        : `job ${id} is blocked, and all that it needs has ended`;
    }
    if (state === "finished") return hasFinished ? undefined : `job ${id} finished by itself`;
    if (hasFailed) return undefined;
    const isBlamed = after.some(({ id: of, on }) => on === "fail" && this.#canFail(of));
    return state === "failed" && isBlamed ? undefined : `job ${id} is ${state} without a reason`;
  }

  // It failed, or failed because of another.
  #canFail(id: string): boolean {
    const { hasFailed, isCancelled, after } = this.jobs.get(id)!;
    return (
      hasFailed || isCancelled || after.some(({ id: of, on }) => on === "fail" && this.#canFail(of))
    );
  }

  // It waits for a job to finish that has failed, or for one that is stuck itself.
  #isStuck(id: string): boolean {
    return this.jobs.get(id)!.after.some(({ id: of, on }) => {
      const { hasFinished } = this.jobs.get(of)!;
      if (hasFinished) return false;
      return (on === "wait" && this.#canFail(of)) || this.#isStuck(of);
    });
  }
}
