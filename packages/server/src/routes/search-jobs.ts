import type { Broker, JobInfo, JobsOptions, Page } from "@sluice/protocol";
import { SEARCH_JOBS_MAX, SEARCH_MS_MAX } from "../limits.ts";

export interface JobSearch extends JobsOptions {
  limit: number;
  /** Part of the id, lane, worker, group, error, a header or the payload. */
  search?: string | undefined;
  worker?: string | undefined;
}

const decoder = new TextDecoder();

/**
 * Jobs in which a text is found. One call looks at a bounded number of them: when it has found too
 * few and there is a cursor, the search continues from there.
 */
export async function searchJobs(
  broker: Broker,
  queue: string,
  { limit, search, worker, ...options }: JobSearch,
): Promise<Page<JobInfo> & { looked: number }> {
  const until = performance.now() + SEARCH_MS_MAX;
  const part = search?.toLowerCase();
  const items: JobInfo[] = [];
  let { cursor } = options;
  for (let looked = 0; ; ) {
    const from = cursor === undefined ? options : { ...options, cursor };
    const page = await broker.jobs(queue, { ...from, limit: limit - items.length });
    looked += page.items.length;
    items.push(
      ...page.items.filter(
        (job) =>
          (worker === undefined || job.worker === worker) &&
          (part === undefined || textOf(job).includes(part)),
      ),
    );
    cursor = page.cursor;
    const isDone = items.length >= limit || looked >= SEARCH_JOBS_MAX;
    if (cursor === undefined) return { items, looked };
    if (isDone || performance.now() > until) return { items, looked, cursor };
  }
}

function textOf({ id, fairnessKey, worker, group, error, headers, payload }: JobInfo): string {
  const lane = typeof fairnessKey === "string" ? fairnessKey : fairnessKey.join("/");
  const parts = [id, lane, worker, group, error, ...Object.values(headers)];
  return `${parts.join("\n")}\n${decoder.decode(payload)}`.toLowerCase();
}
