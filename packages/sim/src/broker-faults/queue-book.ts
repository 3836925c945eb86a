// Counters: what a queue says of itself is what a list of its jobs and the history say.

import { type Added, hasEnded, type JobState } from "@sluice/protocol";
import { demand } from "../demand.ts";
import type { KnownJob, OpenCall } from "./known-job.ts";
import type { ItemAnswer, Seen } from "./record.ts";

interface QueueCounts {
  added: number;
  finished: number;
  dispatched: number;
  // Calls without an answer, by what they may have added to the count.
  mayBeAdded: number;
  mayBeFinished: number;
}

export class QueueBook {
  readonly #counts = new Map<string, QueueCounts>();
  // Queues that were deleted, or may have been. Nothing is known until the name is used again.
  readonly #unknown = new Set<string>();

  called({ call }: OpenCall): void {
    if (call.call === "deleteQueue") this.#unknown.add(call.queue);
    if (call.call === "add") this.#of(call.queue).mayBeAdded += call.jobs.length;
  }

  answered(
    { call }: OpenCall,
    items: readonly ItemAnswer[],
    about: readonly (KnownJob | undefined)[],
  ): void {
    if (call.call === "add") {
      const counts = this.#of(call.queue);
      // A follow-up is one more job, some time after its answer.
      const later = call.jobs.filter(({ dedupe }) => dedupe?.mode === "keepLast").length;
      counts.mayBeAdded -= call.jobs.length - later;
      counts.added += items.filter(isNew).length;
    }
    if (call.call !== "ack") return;
    items.forEach((item, i) => {
      const queue = about[i]?.lease?.queue;
      if (queue === undefined) return;
      if ("ok" in item) this.#of(queue).finished++;
    });
  }

  // The answer to an ack was lost with the broker.
  unanswered(queue: string): void {
    this.#of(queue).mayBeFinished++;
  }

  granted(queue: string): void {
    this.#of(queue).dispatched++;
  }

  looked({ queues, jobs }: Seen): void {
    for (const { name, stats } of queues) {
      const listed = { waiting: 0, delayed: 0, running: 0, kept: 0 };
      for (const { queue, state } of jobs) {
        if (queue !== name) continue;
        listed[countOf(state)]++;
      }
      for (const what of ["waiting", "delayed", "running", "kept"] as const) {
        demand(stats[what] === listed[what], "counters", () => {
          return `queue ${name} counts ${stats[what]} ${what}, the list has ${listed[what]}`;
        });
      }
      if (!this.#unknown.has(name)) this.#judge(name, stats);
    }
  }

  #judge(name: string, stats: Seen["queues"][number]["stats"]): void {
    const counts = this.#of(name);
    const { added, finished, dispatched, mayBeAdded, mayBeFinished } = counts;
    const isWithin =
      stats.added >= added &&
      stats.added <= added + mayBeAdded &&
      stats.finished >= finished &&
      stats.finished <= finished + mayBeFinished &&
      stats.dispatched >= dispatched;
    demand(isWithin, "counters", () => {
      return `queue ${name} counts ${JSON.stringify(stats)}, the history ${JSON.stringify(counts)}`;
    });
  }

  #of(queue: string): QueueCounts {
    let counts = this.#counts.get(queue);
    if (counts === undefined) {
      counts = { added: 0, finished: 0, dispatched: 0, mayBeAdded: 0, mayBeFinished: 0 };
      this.#counts.set(queue, counts);
    }
    return counts;
  }
}

// The count of a queue in which a job in this state is.
function countOf(state: JobState): "waiting" | "delayed" | "running" | "kept" {
  if (state === "delayed" || state === "running") return state;
  return hasEnded(state) ? "kept" : "waiting";
}

function isNew(item: ItemAnswer): boolean {
  if ("error" in item) return false;
  const { duplicate, dropped } = item.ok as Added;
  return duplicate !== true && dropped !== true;
}
