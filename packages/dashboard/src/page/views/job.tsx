import { type HistoryEntry, hasEnded, type JobJson, type Why, whyText } from "@sluice/protocol";
import type { ComponentChildren, JSX } from "preact";
import { useRef } from "preact/hooks";
import { at, call } from "../data/api.ts";
import { useNow } from "../data/context.ts";
import { type Concern, ofQueue, useLive } from "../data/live.ts";
import { BODY_BYTES_MAX, FACT_CHARS } from "../limits.ts";
import { Action } from "../parts/action.tsx";
import { Fact, Refused } from "../parts/bits.tsx";
import { age, bytes, exactTime, fullTime, laneText, timeOfDay } from "../words/format.ts";
import { cut, plainBody, pretty } from "../words/preview.ts";
import { link } from "../words/route.ts";
import { timeline } from "../words/timeline.ts";
import { visible } from "../words/visible.ts";

export function JobView({ id }: { id: string }): JSX.Element {
  const queue = useRef<string>(undefined);
  const concern: Concern = (pulse) => queue.current === undefined || ofQueue(queue.current)(pulse);
  const address = at(["jobs", id], { bytesMax: BODY_BYTES_MAX });
  const { data: job, error, refresh } = useLive<JobJson>(address, concern);
  queue.current = job?.queue;
  const { data: why } = useLive<Why>(job && at(["jobs", id, "why"]));
  const { data: past } = useLive<{ items: HistoryEntry[] }>(
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
            <Life job={job} history={past?.items} why={why} />
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
  return <p class="standing why">{whyNow(why, now)}</p>;
}

/** The server's words as of now, with the time in the reader's zone. */
function whyNow(why: Why, now: number): string {
  const until = "until" in why ? why.until : undefined;
  if (until === undefined) return why.text;
  return `${whyText(why, Math.min(now, until))} (${timeOfDay(until, now)})`;
}

function nowText(why: Why): string {
  return why.state === "waiting" && why.reason === "gated" ? `gated by ${why.gate}` : why.state;
}

function JobActions({ job, onDone }: { job: JobJson; onDone(): void }): JSX.Element {
  const { id, state } = job;
  const isOver = hasEnded(state);
  const canRetry = isOver || state === "delayed" || state === "dead";
  return (
    <div class="actions">
      <Action
        title={`Retry job ${id}`}
        label="Retry"
        isDisabled={!canRetry}
        text={retryText(job)}
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
        isDisabled={isOver}
        text="It is cancelled for good; the worker that has it is asked to stop."
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

function retryText({ dead, state }: JobJson): string {
  if (dead !== undefined) return `It returns to queue ${dead.origin}, with all its attempts.`;
  return hasEnded(state) ? "It runs again as if it were new." : "It is due at once.";
}

function JobFacts({ job }: { job: JobJson }): JSX.Element {
  const now = useNow();
  const { queue, state, tier, fairnessKey, attempt, attempts, addedAt, dead } = job;
  const tone =
    state === "finished" ? "good" : hasEnded(state) || state === "dead" ? "bad" : undefined;
  return (
    <dl class="facts">
      <Fact label="queue">
        <a href={link("queues", queue, "jobs")}>{queue}</a>
      </Fact>
      <Fact label="state" tone={tone}>
        {state}
      </Fact>
      <Fact label="lane">{cut(laneText(fairnessKey), FACT_CHARS)}</Fact>
      <Fact label="tier">{tier}</Fact>
      <Fact label="attempts">
        {attempt} of {attempts}
      </Fact>
      <Fact label="deliveries">{job.deliveries}</Fact>
      <Fact label="added">
        <time dateTime={new Date(addedAt).toISOString()} title={fullTime(addedAt)}>
          {age(now - addedAt)} ago
        </time>
      </Fact>
      <Fact label="gates">
        <Gates gates={job.gates} />
      </Fact>
      {job.worker !== undefined && (
        <Fact label="worker">{cut(visible(job.worker), FACT_CHARS)}</Fact>
      )}
      {job.group !== undefined && <Fact label="group">{cut(visible(job.group), FACT_CHARS)}</Fact>}
      {job.dedupe !== undefined && (
        <Fact label="dedupe key">{cut(visible(job.dedupe), FACT_CHARS)}</Fact>
      )}
      {job.deadline !== undefined && <Fact label="deadline">{timeOfDay(job.deadline, now)}</Fact>}
      {dead !== undefined && (
        <Fact label="came from">
          <a href={link("queues", dead.origin)}>{dead.origin}</a>
        </Fact>
      )}
      {dead !== undefined && (
        <Fact label="died">
          {timeOfDay(dead.at, now)}, {dead.reason}, attempts {dead.attempts}
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
  const now = useNow();
  return (
    <section>
      <h2>Life</h2>
      <ol class="timeline">
        {timeline(history, job).map(({ at: when, event, detail, tone }, i) => (
          <li key={`${i}:${event}`} class={tone}>
            <time dateTime={new Date(when).toISOString()} title={fullTime(when)}>
              {exactTime(when)}
            </time>
            <b>{event}</b>
            <span>{visible(detail)}</span>
          </li>
        ))}
        {!hasEnded(job.state) && why !== undefined && (
          <li class="now">
            <time>now</time>
            <b>{nowText(why)}</b>
            <span>{whyText(why, now)}</span>
          </li>
        )}
      </ol>
    </section>
  );
}

function Bodies({ job }: { job: JobJson }): JSX.Element {
  const { payload, payloadBase64, payloadBytes, error, headers } = job;
  const { result, resultBase64, resultBytes = 0 } = job;
  return (
    <div>
      {error !== undefined && (
        <Body title="Last error" isBad>
          {plainBody(error)}
        </Body>
      )}
      {job.stack !== undefined && <Body title="Stack">{plainBody(job.stack)}</Body>}
      {job.progress !== undefined && <Body title="Progress">{pretty(job.progress)}</Body>}
      <Carried
        title="Payload"
        size={payloadBytes}
        value={payload}
        base64={payloadBase64}
        start={job.payloadStart ?? job.payloadStartBase64}
        id={job.id}
      />
      {resultBytes > 0 && (
        <Carried
          title="Result"
          size={resultBytes}
          value={result}
          base64={resultBase64}
          start={job.resultStart ?? job.resultStartBase64}
          id={job.id}
        />
      )}
      {longNames(job).map(([title, text]) => (
        <Body key={title} title={title}>
          {text}
        </Body>
      ))}
      {Object.keys(headers).length > 0 && <Body title="Headers">{pretty(headers)}</Body>}
    </div>
  );
}

/** Names that do not fit among the facts. */
function longNames({ fairnessKey, worker = "", group = "", dedupe = "" }: JobJson) {
  const names = [
    ["Lane", laneText(fairnessKey)],
    ["Worker", visible(worker)],
    ["Group", visible(group)],
    ["Dedupe key", visible(dedupe)],
  ] as const;
  return names.filter(([, text]) => text.length > FACT_CHARS);
}

interface CarriedProps {
  title: string;
  size: number;
  value: unknown;
  base64: string | undefined;
  start: string | undefined;
  id: string;
}

/** What is long is shown by how it begins, with a way to the whole. */
function Carried({ title, size, value, base64, start, id }: CarriedProps): JSX.Element {
  const text = start ?? base64;
  const kind = base64 === undefined ? "" : ", base64";
  return (
    <Body title={`${title}, ${bytes(size)}${start === undefined ? kind : ", its beginning"}`}>
      {text === undefined ? pretty(value) : plainBody(text)}
      {start !== undefined && (
        <>
          {"…\n"}
          <a href={at(["jobs", id])}>all of the job, as JSON</a>
        </>
      )}
    </Body>
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
