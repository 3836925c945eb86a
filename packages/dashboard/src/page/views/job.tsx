import type { HistoryEntry, JobJson, Why } from "@sluice/protocol";
import type { ComponentChildren, JSX } from "preact";
import { at, call } from "../data/api.ts";
import { useNow } from "../data/context.ts";
import { ofQueue, useLive } from "../data/live.ts";
import { Action } from "../parts/action.tsx";
import { Fact, Refused } from "../parts/bits.tsx";
import { age, bytes, duration, exactTime, fullTime, laneText, timeOfDay } from "../words/format.ts";
import { pretty } from "../words/preview.ts";
import { link } from "../words/route.ts";
import { timeline } from "../words/timeline.ts";

export function JobView({ id }: { id: string }): JSX.Element {
  const { data: job, error, refresh } = useLive<JobJson>(at(["jobs", id]));
  const concern = ofQueue(job?.queue ?? "");
  const { data: why } = useLive<Why>(job && at(["jobs", id, "why"]));
  const { data: past } = useLive<{ history: HistoryEntry[] }>(
    job && at(["jobs", id, "history"]),
    concern,
  );
  return (
    <>
      <header class="head">
        <div>
          <h1>Job {id}</h1>
          <WhyLine why={why} />
        </div>
        {job !== undefined && <JobActions job={job} onDone={refresh} />}
      </header>
      <Refused error={error} />
      {job !== undefined && (
        <>
          <JobFacts job={job} />
          <div class="columns">
            <Life job={job} history={past?.history} why={why} />
            <Bodies job={job} />
          </div>
        </>
      )}
    </>
  );
}

function WhyLine({ why }: { why: Why | undefined }): JSX.Element {
  const now = useNow();
  if (why === undefined) return <p class="standing muted">…</p>;
  return <p class="standing why">{whyText(why, now)}</p>;
}

/** The server's words, with the time in the reader's zone. */
function whyText(why: Why, now: number): string {
  const until = "until" in why ? why.until : undefined;
  if (until === undefined) return why.text;
  const left = duration(until - now);
  const when = timeOfDay(until, now);
  if (why.state === "delayed") return `It is delayed for ${left}, until ${when}.`;
  if (why.state === "leased") return `Worker ${why.worker} has it for ${left} more, until ${when}.`;
  if (why.state === "waiting" && why.reason === "gated" && why.part !== "line") {
    return `Gate ${why.gate} keeps it (${why.part}) for ${left}, until ${when}.`;
  }
  return why.text;
}

function JobActions({ job, onDone }: { job: JobJson; onDone(): void }): JSX.Element {
  const { id, state } = job;
  const hasEnded = state === "finished" || state === "failed";
  return (
    <div class="actions">
      <Action
        title={`Retry job ${id}`}
        label="Retry"
        isDisabled={!hasEnded && state !== "delayed"}
        text={hasEnded ? "It runs again as if it were new." : "It is due at once."}
        verb="Retry"
        run={async () => {
          await call("POST", at(["jobs", id, "retry"]));
          return `Job ${id} runs again.`;
        }}
        onDone={onDone}
      />
      <Action
        title={`Cancel job ${id}`}
        label="Cancel"
        isDangerous
        isDisabled={hasEnded}
        text="It is cancelled for good; a worker that has it is told to stop."
        verb="Cancel it"
        run={async () => {
          const { cancelled } = await call<{ cancelled: boolean }>("DELETE", at(["jobs", id]));
          return cancelled ? `Job ${id} was cancelled.` : `Job ${id} had ended already.`;
        }}
        onDone={onDone}
      />
    </div>
  );
}

function JobFacts({ job }: { job: JobJson }): JSX.Element {
  const now = useNow();
  const { queue, state, ending, tier, fairnessKey, attempt, attempts, addedAt, origin } = job;
  const tone = state === "finished" ? "good" : state === "failed" ? "bad" : undefined;
  return (
    <dl class="facts">
      <Fact label="queue">
        <a href={link("queues", queue, "jobs")}>{queue}</a>
      </Fact>
      <Fact label="state" tone={tone}>
        {ending ?? (state === "leased" ? "running" : state)}
      </Fact>
      <Fact label="lane">{laneText(fairnessKey)}</Fact>
      <Fact label="tier">{tier}</Fact>
      <Fact label="attempts">
        {attempt} of {attempts}
      </Fact>
      <Fact label="added">
        <time dateTime={new Date(addedAt).toISOString()} title={fullTime(addedAt)}>
          {age(now - addedAt)} ago
        </time>
      </Fact>
      <Fact label="gates">
        <Gates gates={job.gates} />
      </Fact>
      {job.worker !== undefined && <Fact label="worker">{job.worker}</Fact>}
      {job.group !== undefined && <Fact label="group">{job.group}</Fact>}
      {job.dedupe !== undefined && <Fact label="dedupe key">{job.dedupe}</Fact>}
      {job.deadline !== undefined && <Fact label="deadline">{timeOfDay(job.deadline, now)}</Fact>}
      {origin !== undefined && (
        <Fact label="came from">
          <a href={link("queues", origin)}>{origin}</a>
        </Fact>
      )}
    </dl>
  );
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

interface LifeProps {
  job: JobJson;
  history: readonly HistoryEntry[] | undefined;
  why: Why | undefined;
}

function Life({ job, history = [], why }: LifeProps): JSX.Element {
  const hasEnded = job.state === "finished" || job.state === "failed";
  return (
    <section>
      <h2>Life</h2>
      <ol class="timeline">
        {timeline(history, job).map(({ at: when, event, detail, tone }) => (
          <li key={`${when}:${event}:${detail}`} class={tone}>
            <time dateTime={new Date(when).toISOString()} title={fullTime(when)}>
              {exactTime(when)}
            </time>
            <b>{event}</b>
            <span>{detail}</span>
          </li>
        ))}
        {!hasEnded && why !== undefined && (
          <li class="now">
            <time>now</time>
            <b>{why.state === "leased" ? "running" : why.state}</b>
            <span>{why.text}</span>
          </li>
        )}
      </ol>
    </section>
  );
}

function Bodies({ job }: { job: JobJson }): JSX.Element {
  const { payload, payloadBase64, payloadBytes, error, result, resultBase64, headers } = job;
  return (
    <div>
      {error !== undefined && (
        <Body title="Last error" isBad>
          {error}
        </Body>
      )}
      {job.progress !== undefined && <Body title="Progress">{pretty(job.progress)}</Body>}
      <Body title={`Payload, ${bytes(payloadBytes)}`}>{payloadBase64 ?? pretty(payload)}</Body>
      {(result !== undefined || resultBase64 !== undefined) && (
        <Body title="Result">{resultBase64 ?? pretty(result)}</Body>
      )}
      {Object.keys(headers).length > 0 && <Body title="Headers">{pretty(headers)}</Body>}
    </div>
  );
}

interface BodyProps {
  title: string;
  isBad?: boolean;
  children: ComponentChildren;
}

function Body({ title, isBad, children }: BodyProps): JSX.Element {
  return (
    <section>
      <h2>{title}</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable. */}
      <pre class={`code ${isBad === true ? "bad" : ""}`} tabIndex={0}>
        {children}
      </pre>
    </section>
  );
}
