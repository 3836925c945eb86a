// Groups: every member ends, then the group, once.

import { type GroupInfo, groupName } from "@sluice/protocol";
import { demand } from "../demand.ts";
import type { JobBook } from "./job-book.ts";
import { causeOf, type KnownJob, type OpenCall } from "./known-job.ts";

interface Group {
  readonly members: number[];
  isEnded: boolean;
}

export class GroupBook {
  readonly #jobs: JobBook;
  readonly #groups = new Map<string, Group>();

  constructor(jobs: JobBook) {
    this.#jobs = jobs;
  }

  get names(): readonly string[] {
    return [...this.#groups.keys()];
  }

  // A group is added with one call.
  called({ call }: OpenCall): void {
    if (call.call !== "add") return;
    for (const { group, number } of call.jobs) {
      if (group === undefined) continue;
      const name = groupName(call.queue, group);
      const known = this.#groups.get(name) ?? { members: [], isEnded: false };
      known.members.push(number);
      this.#groups.set(name, known);
    }
  }

  told(name: string, at: number): void {
    const group = this.#groups.get(name);
    demand(group !== undefined, "groups", () => `there is no group ${name}`);
    demand(group?.isEnded === false, "groups", () => `group ${name} has ended twice`);
    this.#judgeEnd(name, group!, at);
    group!.isEnded = true;
  }

  #judgeEnd(name: string, { members }: Group, at: number): void {
    const open = this.#membersOf(members).find(
      (job) => job.isCertain && job.ended === undefined && causeOf(job, at) === undefined,
    );
    demand(open === undefined, "groups", () => {
      return `group ${name} has ended before its member ${open?.id}`;
    });
  }

  #membersOf(members: readonly number[]): KnownJob[] {
    const jobs = members.map((number) => this.#jobs.byNumber(number)!);
    // One that was run again has left its group, and a duplicate has never joined.
    return jobs.filter(({ isSecondLife, note }) => !isSecondLife && note.dedupe === undefined);
  }

  looked(seen: readonly GroupInfo[], at: number): void {
    for (const { id, ended } of seen) {
      const group = this.#groups.get(id)!;
      demand(ended || !group.isEnded, "groups", () => `group ${id} is open again`);
      if (ended) this.#judgeEnd(id, group, at);
    }
    const known = new Set(seen.map(({ id }) => id));
    for (const [name, { members }] of this.#groups) {
      const isThere = this.#membersOf(members).some(({ isCertain, ended }) => {
        return isCertain && ended === undefined;
      });
      demand(!isThere || known.has(name), "groups", () => `group ${name} is lost`);
    }
  }

  // After a drain all of them have ended.
  finish(seen: readonly GroupInfo[]): void {
    for (const { id, ended, members } of seen) {
      const open = members.filter(({ state }) => state === undefined).length;
      demand(ended, "groups", () => `group ${id} has not ended, ${open} members are open`);
    }
  }
}
