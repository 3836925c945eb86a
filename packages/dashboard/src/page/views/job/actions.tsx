import { hasEnded, type JobJson } from "@sluice/protocol";
import type { JSX } from "preact";
import { at, call, get } from "../../data/api.ts";
import { runBulk } from "../../data/bulk.ts";
import { Action } from "../../parts/action.tsx";
import { copyOfJob, parseJson } from "../../words/new-job.ts";
import { link } from "../../words/route.ts";

interface JobActionProps {
  job: JobJson;
  onDone(): void;
}

export function JobActions(props: JobActionProps): JSX.Element {
  return (
    <div class="actions">
      <RetryJob {...props} />
      <EditJob {...props} />
      <DuplicateJob {...props} />
      <CancelJob {...props} />
    </div>
  );
}

function RetryJob({ job, onDone }: JobActionProps): JSX.Element {
  const { id, state } = job;
  const isNow = state === "delayed";
  const canRun = hasEnded(state) || isNow || state === "dead";
  return (
    <Action
      title={isNow ? `Run job ${id} now` : `Retry job ${id}`}
      label={isNow ? "Run now" : "Retry"}
      isPrimary
      whyNot={canRun ? undefined : `Job ${id} is ${state}: it has not ended.`}
      text={retryText(job)}
      verb={isNow ? "Run now" : "Retry"}
      needs={["produce", job.queue]}
      run={async () => {
        await call("POST", at(["jobs", id, "retry"]));
        return `Job ${id} runs again.`;
      }}
      onDone={onDone}
    />
  );
}

/** Only a payload that the page has whole, and as JSON, can be edited. */
const isEditable = (job: JobJson): boolean =>
  job.payloadBase64 === undefined &&
  job.payloadStart === undefined &&
  job.payloadStartBase64 === undefined;

function payloadField(job: JobJson) {
  const value = JSON.stringify(job.payload, null, 2);
  return { name: "payload", label: "Payload, as JSON", kind: "lines" as const, value };
}

function EditJob({ job, onDone }: JobActionProps): JSX.Element | null {
  const { id, state, dead, queue } = job;
  if (!(hasEnded(state) || state === "dead") || !isEditable(job)) return null;
  return (
    <Action
      title={`Edit and retry job ${id}`}
      label="Edit and retry"
      text="It runs again with this payload instead of its own, and keeps its id."
      verb="Retry"
      needs={["produce", queue]}
      fields={[payloadField(job), { name: "to", label: "Queue", value: dead?.origin ?? queue }]}
      run={async ({ payload = "", to = "" }, tell, signal) => {
        const request = { action: "retry" as const, filter: { ids: [id] } };
        const edited = { ...request, to, payload: parseJson("payload", payload) };
        const { refused, refusal } = await runBulk(edited, tell, signal);
        if (refused > 0) throw new Error(refusal ?? "it was refused");
        return `Job ${id} runs again with the new payload.`;
      }}
      onDone={onDone}
    />
  );
}

function retryText({ dead, state }: JobJson): string {
  if (dead !== undefined) return `It returns to queue ${dead.origin}, with all its attempts.`;
  return hasEnded(state) ? "It runs again as if it were new." : "It is due at once.";
}

function CancelJob({ job: { id, state, queue }, onDone }: JobActionProps): JSX.Element {
  return (
    <Action
      title={`Cancel job ${id}`}
      label="Cancel"
      isDangerous
      whyNot={hasEnded(state) ? `Job ${id} has ended: it is ${state}.` : undefined}
      text="It is cancelled for good. The worker that holds it is asked to stop."
      verb="Cancel it"
      needs={["produce", queue]}
      run={async () => {
        const { cancelled } = await call<{ cancelled: boolean }>("DELETE", at(["jobs", id]));
        return cancelled ? `Job ${id} was cancelled.` : `Job ${id} had ended already.`;
      }}
      onDone={onDone}
    />
  );
}

/** A payload that is not JSON, or that the page has only the beginning of, is taken as it is. */
function DuplicateJob({ job, onDone }: JobActionProps): JSX.Element {
  const queue = job.dead?.origin ?? job.queue;
  const hasPayload = isEditable(job);
  return (
    <Action
      title={`Duplicate job ${job.id}`}
      label="Duplicate"
      text="Adds a new job with the same lane, tier, gates and headers. This one stays as it is."
      verb="Add"
      needs={["produce", queue]}
      fields={[
        { name: "queue", label: "Queue", value: queue },
        ...(hasPayload ? [payloadField(job)] : []),
      ]}
      run={async ({ queue: to = queue, payload: text }) => {
        const whole = hasPayload ? job : await get<JobJson>(at(["jobs", job.id]));
        const body = copyOfJob(whole, text);
        const { id } = await call<{ id: string }>("POST", at(["queues", to, "jobs"]), { body });
        location.hash = link("jobs", id);
        return `Job ${id} was added to ${to}.`;
      }}
      onDone={onDone}
    />
  );
}
