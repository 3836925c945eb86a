// What must become of jobs that wait for each other, by the rules alone: the slow model.

import type { OnDependencyFailure } from "@sluice/engine";

type End = "finished" | "failed" | "cancelled" | "dead";

interface Edge {
  readonly from: Known;
  readonly to: Known;
  readonly on: OnDependencyFailure;
  isOver: boolean;
}

export class Known {
  readonly id: number;
  readonly enters: Edge[] = [];
  readonly leaves: Edge[] = [];
  isSealed: boolean;
  end: End | undefined = undefined;

  constructor(id: number, isSealed: boolean) {
    this.id = id;
    this.isSealed = isSealed;
  }

  get isBlocked(): boolean {
    if (this.end !== undefined) return false;
    return !this.isSealed || this.enters.some(({ isOver }) => !isOver);
  }
}

export class Book {
  readonly jobs = new Map<number, Known>();

  add(id: number, isSealed: boolean, after: readonly { id: number; on: OnDependencyFailure }[]) {
    const job = new Known(id, isSealed);
    this.jobs.set(id, job);
    for (const { id: of, on } of after) {
      const edge = { from: this.jobs.get(of)!, to: job, on, isOver: false };
      edge.from.leaves.push(edge);
      job.enters.push(edge);
    }
    for (const edge of job.enters) this.#settle(edge);
    return job;
  }

  end(id: number, how: End): void {
    const job = this.jobs.get(id)!;
    job.end = how;
    for (const edge of job.leaves) this.#settle(edge);
  }

  // A flow is sealed, or all of its jobs that have not ended are cancelled together.
  close(ids: readonly number[], isSealed: boolean): void {
    const jobs = ids.map((id) => this.jobs.get(id)!);
    for (const job of jobs) job.isSealed = true;
    if (isSealed) return;
    const open = jobs.filter(({ end }) => end === undefined);
    for (const job of open) job.end = "cancelled";
    for (const { id } of open) this.end(id, "cancelled");
  }

  // A dead letter is back where it came from.
  retried(id: number): void {
    this.jobs.get(id)!.end = undefined;
  }

  #settle(edge: Edge): void {
    const { end } = edge.from;
    if (edge.isOver || end === undefined) return;
    if (end === "finished" || edge.on === "run") edge.isOver = true;
    else if (edge.on === "fail") {
      edge.isOver = true;
      if (edge.to.end === undefined) this.end(edge.to.id, "failed");
    }
  }

  // Of every job, what is wrong with its state; undefined: nothing.
  judge(stateOf: (id: number) => string | undefined): string | undefined {
    for (const job of this.jobs.values()) {
      const state = stateOf(job.id);
      const wanted = job.isBlocked ? "blocked" : job.end;
      if (wanted === undefined) {
        if (state !== "waiting" && state !== "running")
          return `job ${job.id} is ${state}, not open`;
      } else if (state !== wanted && !(state === undefined && this.#isForgettable(job))) {
        return `job ${job.id} is ${state}, not ${wanted}`;
      }
    }
    return undefined;
  }

  // An ended job may be forgotten, unless one that waits for it has not ended.
  #isForgettable({ end, leaves }: Known): boolean {
    return end !== undefined && end !== "dead" && leaves.every(({ to }) => isOver(to));
  }
}

function isOver({ end }: Known): boolean {
  return end !== undefined && end !== "dead";
}
