/** Which jobs a command means: the flags that make a filter. */
import { JOB_STATES, type JobFilter, type JobState, parseLaneKey } from "@sluice/protocol";
import {
  type Call,
  durationOf,
  Misuse,
  type Options,
  textOf,
  textsOf,
  wholeOf,
} from "./command.ts";

export const FILTER_FLAGS: Options = {
  id: { type: "string", multiple: true },
  queue: { type: "string", multiple: true },
  state: { type: "string", multiple: true },
  lane: { type: "string" },
  origin: { type: "string" },
  since: { type: "string" },
  changed: { type: "boolean" },
  error: { type: "string" },
  failure: { type: "string" },
  gate: { type: "string" },
  group: { type: "string" },
  attempts: { type: "string" },
  header: { type: "string" },
  text: { type: "string" },
};

export const FILTER_USAGE = `  --id ID                only this one (repeat)
  --queue NAME           of this queue, or of all that begin with NAME* (repeat)
  --state STATE          ${JOB_STATES.slice(0, 5).join(", ")},
                         ${JOB_STATES.slice(5).join(", ")} (repeat)
  --lane KEY             with this fairness key
  --origin QUEUE         dead letters that came from this queue
  --since DURATION       added in the last 2h, say; with --changed: that came into their state
  --error TEXT           with this in their last error
  --failure ID           of this group of \`sluice jobs failures\`
  --gate, --group NAME   that name this gate, or are in this group
  --attempts N           with at least so many attempts used
  --header NAME[=VALUE]  with this header
  --text TEXT            with this in their payload: all payloads are scanned`;

/** What acts on many jobs must not take all of them because a flag was forgotten. */
export function neededFilterOf(call: Call, now: number): JobFilter {
  const filter = filterOf(call, now);
  if (Object.keys(filter).some((field) => field !== "time")) return filter;
  throw new Misuse('a FILTER is needed; --queue "*" means the jobs of all queues');
}

/** The filter that the flags of a call make. */
export function filterOf(call: Call, now: number): JobFilter {
  const filter: JobFilter = {};
  const sinceMs = durationOf(call, "since");
  const lane = textOf(call, "lane");
  const states = textsOf(call, "state").flatMap((text) => text.split(","));
  if (textsOf(call, "id").length > 0) filter.ids = textsOf(call, "id");
  if (textsOf(call, "queue").length > 0) filter.queues = textsOf(call, "queue");
  if (states.length > 0) filter.states = states.map(stateOf);
  if (lane !== undefined) filter.lane = parseLaneKey(lane);
  if (sinceMs !== undefined) filter.since = now - sinceMs;
  if (call.values.changed === true) filter.time = "changed";
  const attempts = wholeOf(call, "attempts", 1);
  if (attempts !== undefined) filter.attempts = attempts;
  for (const name of ["origin", "error", "failure", "gate", "group", "header", "text"] as const) {
    const text = textOf(call, name);
    if (text !== undefined) filter[name] = text;
  }
  return filter;
}

function stateOf(text: string): JobState {
  const state = JOB_STATES.find((known) => known === text);
  if (state !== undefined) return state;
  throw new Misuse(`--state must be one of ${JOB_STATES.join(", ")}, got ${JSON.stringify(text)}`);
}
