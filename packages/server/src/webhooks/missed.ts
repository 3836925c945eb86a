/** Ends of jobs that happened while nothing listened: the jobs are kept, and can be found. */
import type { Broker, BrokerEvent, FoundJob, JobState } from "@sluice/protocol";
import { END_STATES, type EndState } from "./webhook.ts";

const PAGE = 1000;
const STATES: readonly JobState[] = [...END_STATES, "dead"];

/** What ended or died since then, the oldest first. */
export async function* endsSince(broker: Broker, since: number): AsyncGenerator<BrokerEvent[]> {
  const asked = { states: STATES, time: "changed", order: "oldest", since, limit: PAGE } as const;
  let cursor: string | undefined;
  do {
    const page = await broker.findJobs({ ...asked, ...(cursor === undefined ? {} : { cursor }) });
    yield page.items.map(eventOf);
    cursor = page.cursor;
  } while (cursor !== undefined);
}

function eventOf({ id, queue, state, changedAt, error, dead }: FoundJob): BrokerEvent {
  const why = error === undefined ? {} : { error };
  if (state === "dead" && dead !== undefined) {
    return { event: "dead", at: dead.at, id, queue: dead.origin, dlq: queue, ...why };
  }
  return { event: "ended", at: changedAt, id, queue, state: state as EndState, ...why };
}
