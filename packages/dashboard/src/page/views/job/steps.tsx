import type { JobJson, StepInfo, StepsInfo } from "@sluice/protocol";
import { hasEnded } from "@sluice/protocol";
import type { JSX } from "preact";
import { at, call } from "../../data/api.ts";
import { type Concern, useLive } from "../../data/live.ts";
import { STEP_CHARS } from "../../limits.ts";
import { Action } from "../../parts/action.tsx";
import { When } from "../../parts/bits.tsx";
import { exactTime } from "../../words/format.ts";
import { parseJson } from "../../words/new-job.ts";
import { cut } from "../../words/preview.ts";
import { visible } from "../../words/visible.ts";

/** The steps of a job's handler; nothing for a job that has none. */
export function JobSteps({ job, concern }: { job: JobJson; concern: Concern }): JSX.Element | null {
  const { data, refresh } = useLive<StepsInfo>(at(["jobs", job.id, "steps"]), concern);
  if (data === undefined) return null;
  const { items, pending, signals, cursor } = data;
  if (items.length === 0 && pending === undefined && signals.length === 0) return null;
  return (
    <section>
      <h2>Steps</h2>
      <ol class="timeline">
        {items.map((step) => (
          <li key={`${step.occurrence} ${step.name}`} class={step.isDone ? "good" : "bad"}>
            <When at={step.at}>{exactTime(step.at)}</When>
            <b>{nameOf(step)}</b>
            <span>{visible(cut(textOf(step), STEP_CHARS))}</span>
          </li>
        ))}
        {cursor !== undefined && <li class="wait">and more</li>}
        {pending !== undefined && !hasEnded(job.state) && (
          <li class="now">
            <time>now</time>
            <b>{nameOf(pending)}</b>
            <span>{PENDING[pending.kind]}</span>
          </li>
        )}
        {signals.map(({ name, at: when }) => (
          <li key={`${name} ${when}`} class="wait">
            <When at={when}>{exactTime(when)}</When>
            <b>{visible(name)}</b>
            <span>a signal that no step has taken yet</span>
          </li>
        ))}
      </ol>
      {pending?.kind === "wait" && <SendSignal job={job} name={pending.name} onDone={refresh} />}
    </section>
  );
}

const PENDING = {
  run: "waits for its gates, or for its next try",
  sleep: "sleeps",
  wait: "waits for its signal",
} as const;

const nameOf = ({ name, kind }: Pick<StepInfo, "name" | "kind">): string =>
  visible(name === "" ? kind : name);

function textOf({ kind, isDone, isLate, value, failures, error }: StepInfo): string {
  if (!isDone) return `failed ${failures === 1 ? "once" : `${failures} times`}: ${error}`;
  if (isLate === true) return "no signal in time";
  if (value === undefined) return kind === "sleep" ? "slept" : "done";
  return JSON.stringify(value);
}

interface SendSignalProps {
  job: JobJson;
  name: string;
  onDone(): void;
}

function SendSignal({ job: { id, queue }, name, onDone }: SendSignalProps): JSX.Element {
  return (
    <Action
      title={`Send a signal to job ${id}`}
      label={`Send signal "${visible(name)}"`}
      text="The step that waits for it gets the value, and the job continues."
      verb="Send"
      needs={["produce", queue]}
      fields={[
        { name: "name", label: "Name", value: name },
        { name: "value", label: "Value, as JSON", value: "true", kind: "lines" },
      ]}
      run={async (values) => {
        const text = values.value ?? "";
        const value = text.trim() === "" ? undefined : parseJson("value", text);
        const body = { name: values.name, value };
        await call("POST", at(["jobs", id, "signal"]), { body });
        return `Signal ${values.name} was sent.`;
      }}
      onDone={onDone}
    />
  );
}
