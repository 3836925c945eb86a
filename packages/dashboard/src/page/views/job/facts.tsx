import { hasEnded, type JobJson } from "@sluice/protocol";
import type { JSX } from "preact";
import { useNow } from "../../data/context.ts";
import { FACT_CHARS } from "../../limits.ts";
import { Fact, Pill, When } from "../../parts/bits.tsx";
import { ago, duration, laneText, timeOfDay } from "../../words/format.ts";
import { cut } from "../../words/preview.ts";
import { link } from "../../words/route.ts";
import { toneOf } from "../../words/tone.ts";
import { visible } from "../../words/visible.ts";

export function JobFacts({ job }: { job: JobJson }): JSX.Element {
  const now = useNow();
  const { queue, state, tier, fairnessKey, attempt, attempts, addedAt, dead } = job;
  return (
    <dl class="facts">
      <Fact label="State">
        <Pill tone={toneOf(state)}>{state}</Pill>
      </Fact>
      <Fact label="Queue">
        <a href={link("queues", queue, "jobs")}>{queue}</a>
      </Fact>
      <Fact label="Lane">{cut(laneText(fairnessKey), FACT_CHARS)}</Fact>
      <Fact label="Tier">{tier}</Fact>
      <Fact label="Attempts">
        {dead?.attempts ?? attempt} of {attempts}
      </Fact>
      <Fact label="Deliveries">{job.deliveries}</Fact>
      <Fact label="Added">
        <When at={addedAt}>{ago(now - addedAt)}</When>
      </Fact>
      {hasEnded(state) && job.at !== undefined && (
        <Fact label="Took">{duration(job.at - addedAt)}</Fact>
      )}
      {job.gates.length > 0 && (
        <Fact label="Gates">
          <Gates gates={job.gates} />
        </Fact>
      )}
      <MoreFacts job={job} now={now} />
    </dl>
  );
}

/** What few jobs have. */
function MoreFacts({ job, now }: { job: JobJson; now: number }): JSX.Element {
  const { worker, group, dedupe, deadline, schedule, dead } = job;
  return (
    <>
      {worker !== undefined && <Fact label="Worker">{cut(visible(worker), FACT_CHARS)}</Fact>}
      {group !== undefined && (
        <Fact label="Group">
          <a href={link("groups", ...splitGroup(group))}>{cut(visible(group), FACT_CHARS)}</a>
        </Fact>
      )}
      {dedupe !== undefined && <Fact label="Dedupe key">{cut(visible(dedupe), FACT_CHARS)}</Fact>}
      {schedule !== undefined && (
        <Fact label="Schedule">
          <a href={link("schedules", dead?.origin ?? job.queue, schedule.name)}>
            {visible(schedule.name)}
          </a>
        </Fact>
      )}
      {deadline !== undefined && <Fact label="Deadline">{timeOfDay(deadline, now)}</Fact>}
      {dead !== undefined && (
        <>
          <Fact label="Came from">
            <a href={link("queues", dead.origin)}>{dead.origin}</a>
          </Fact>
          <Fact label="Died">
            <When at={dead.at}>{ago(now - dead.at)}</When>
          </Fact>
        </>
      )}
    </>
  );
}

/** `orders/batch-7`: a queue and the name of the group in it. */
function splitGroup(group: string): [queue: string, name: string] {
  const cutAt = group.indexOf("/");
  return [group.slice(0, cutAt), group.slice(cutAt + 1)];
}

function Gates({ gates }: { gates: readonly string[] }): JSX.Element {
  if (gates.length === 0) return <>none</>;
  return (
    <>
      {gates.map((gate, i) => (
        <span key={gate}>
          {i > 0 && ", "}
          <a href={link("gates", gate)}>{gate}</a>
        </span>
      ))}
    </>
  );
}
