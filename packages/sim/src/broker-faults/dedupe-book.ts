// Dedupe: while a job certainly has a key, an add with it answers that job.

import type { Added } from "@sluice/protocol";
import { demand } from "../demand.ts";
import type { JobBook } from "./job-book.ts";
import { causeOf, type KnownJob, type OpenCall } from "./known-job.ts";
import type { ItemAnswer } from "./record.ts";

export class DedupeBook {
  readonly #jobs: JobBook;

  constructor(jobs: JobBook) {
    this.#jobs = jobs;
  }

  // Before the answer is put into effect.
  answered({ call, n }: OpenCall, at: number, items: readonly ItemAnswer[]): void {
    if (call.call !== "add" || items.length < call.jobs.length) return;
    call.jobs.forEach(({ number, dedupe }, i) => {
      const item = items[i]!;
      if (dedupe === undefined || "error" in item) return;
      const { id, duplicate, dropped } = item.ok as Added;
      if (duplicate === true || dropped === true) return;
      if (dedupe.mode !== "pending" && dedupe.mode !== "window") return;
      const others = this.#jobs.byKey(call.queue, dedupe.key);
      const holder = others.find((other) => other.number !== number && hasKey(other, n, at));
      demand(holder === undefined, "dedupe", () => {
        return `number ${number} is the new job ${id}, and ${holder?.id} has key ${dedupe.key}`;
      });
    });
  }
}

// The holder was answered before the call was made, and nothing can have taken the key from it.
function hasKey(job: KnownJob, call: number, at: number): boolean {
  const { dedupe } = job.note;
  if (!job.isCertain || job.hasLostKey || job.knownSince >= call) return false;
  if (dedupe!.mode === "window") {
    if (at >= job.calledAt + dedupe!.windowMs!) return false;
    if (job.ended === "finished") return true;
  }
  return job.ended === undefined && causeOf(job, at) === undefined;
}
