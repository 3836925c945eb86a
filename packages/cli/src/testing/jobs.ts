import type { Broker, JobFields, LeasedJob, NewJob } from "@sluice/protocol";

export function job(text: string, options: JobFields = {}): NewJob {
  return { payload: new TextEncoder().encode(text), ...options };
}

export function textOf({ payload }: { payload: Uint8Array }): string {
  return new TextDecoder().decode(payload);
}

// Adds jobs of which none may be refused; answers their ids.
export async function addAll(broker: Broker, queue: string, jobs: NewJob[]): Promise<string[]> {
  const outcomes = await broker.add(queue, jobs);
  return outcomes.map(({ ok, error }) => {
    if (ok === undefined) throw new Error(error.message);
    return ok.id;
  });
}

// The next `max` jobs that come, with a poll for each as long as a test may last.
export async function take(broker: Broker, queue: string, max: number): Promise<LeasedJob[]> {
  const jobs: LeasedJob[] = [];
  while (jobs.length < max) {
    const more = await broker.lease(queue, { max: max - jobs.length, wait: 20_000 });
    if (more.length === 0) throw new Error(`${jobs.length} of ${max} jobs came from ${queue}`);
    jobs.push(...more);
  }
  return jobs;
}

// The codes with which items of a batch were refused; "ok" for the others.
export function codesOf(outcomes: readonly { error?: { code: string } | undefined }[]): string[] {
  return outcomes.map(({ error }) => error?.code ?? "ok");
}
