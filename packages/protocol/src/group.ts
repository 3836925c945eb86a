/**
 * Names of groups. A group belongs to the queue in which it was opened: the group `batch-7` of the
 * queue `orders` is `orders/batch-7`, and no other queue's group can take that name. A job names a
 * group of its own queue in short, and one of another queue in full.
 */

/** The full name of the group that a job of this queue names. */
export function groupName(queue: string, group: string): string {
  return group.includes("/") ? group : `${queue}/${group}`;
}

/** The queue to which a group belongs; empty for a name that has none. */
export function queueOfGroup(group: string): string {
  return group.slice(0, Math.max(0, group.indexOf("/")));
}

/** The full names of the groups that jobs of this queue name. */
export function groupsOf(queue: string, jobs: Iterable<{ group?: unknown }>): Set<string> {
  const names = new Set<string>();
  for (const job of jobs) {
    if (typeof job?.group === "string") names.add(groupName(queue, job.group));
  }
  return names;
}
