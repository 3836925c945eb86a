import type { HistoryEntry, JobJson, Why } from "@sluice/protocol";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { at } from "../../data/api.ts";
import { type Concern, ofQueue, useLive } from "../../data/live.ts";
import { BODY_BYTES_MAX } from "../../limits.ts";
import { Refused } from "../../parts/bits.tsx";
import { Copy } from "../../parts/copy.tsx";
import { link } from "../../words/route.ts";
import { JobActions } from "./actions.tsx";
import { Bodies } from "./bodies.tsx";
import { JobFacts } from "./facts.tsx";
import { Attempts, Life, WhyLine } from "./life.tsx";
import { JobLog } from "./log.tsx";
import { Neighbours } from "./neighbours.tsx";
import { ProgressOf } from "./progress.tsx";
import { JobSteps } from "./steps.tsx";

export function JobView({ id }: { id: string }): JSX.Element {
  const known = useRef<JobJson>(undefined);
  // Progress and lines of the log change no figure of the queue.
  const concern: Concern = (pulse) =>
    known.current === undefined ||
    known.current.state === "running" ||
    ofQueue(known.current.queue)(pulse);
  const address = at(["jobs", id], { bytesMax: BODY_BYTES_MAX });
  const { data: job, error, refresh } = useLive<JobJson>(address, concern);
  known.current = job;
  const { data: why } = useLive<Why>(job && at(["jobs", id, "why"]));
  const { data: past } = useLive<{ items: HistoryEntry[] }>(
    job && at(["jobs", id, "history"]),
    concern,
  );
  return (
    <>
      {job !== undefined && (
        <p class="crumb">
          <a href={link("queues", job.queue, "jobs")}>{job.queue}</a>
        </p>
      )}
      <header class="head">
        <div>
          <h1>
            Job {id} <Copy text={id} label="Id" />
          </h1>
          {(job !== undefined || error === undefined) && <WhyLine why={why} />}
        </div>
        {job !== undefined && <JobActions job={job} onDone={refresh} />}
      </header>
      <Refused error={error} />
      {job !== undefined && (
        <>
          <JobFacts job={job} />
          <ProgressOf job={job} />
          <div class="columns">
            <div>
              <Life job={job} history={past?.items} why={why} />
              <JobSteps job={job} concern={concern} />
              <Attempts history={past?.items} />
              <JobLog id={id} concern={concern} />
              <Neighbours id={id} concern={concern} />
            </div>
            <Bodies job={job} />
          </div>
        </>
      )}
    </>
  );
}
