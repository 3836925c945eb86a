/** A button that does something with many jobs. It says first how many there are. */
import type { BulkInfo, JobFilter, BulkAction as Kind } from "@sluice/protocol";
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type BulkRequest, countBulk, runBulk } from "../data/bulk.ts";
import { count } from "../words/format.ts";
import { parseJson } from "../words/new-job.ts";
import { Action, type ActionField } from "./action.tsx";

interface Verb {
  label: string;
  text: string;
  verb: string;
  done: string;
  isDangerous?: true;
}

const VERBS: Readonly<Record<Kind, Verb>> = {
  retry: {
    label: "Retry",
    text: "Dead letters return to their queues, and jobs that have ended run again.",
    verb: "Retry",
    done: "retried",
  },
  run: {
    label: "Run now",
    text: "Delayed jobs are due at once.",
    verb: "Run now",
    done: "due now",
  },
  move: {
    label: "Move",
    text: "Jobs that wait, are delayed or dead go to another queue.",
    verb: "Move",
    done: "moved",
  },
  cancel: {
    label: "Cancel",
    text: "Jobs that have not ended are cancelled for good.",
    verb: "Cancel them",
    done: "cancelled",
    isDangerous: true,
  },
  delete: {
    label: "Delete",
    text: "The jobs are forgotten. Those that have not ended are cancelled first.",
    verb: "Delete",
    done: "deleted",
    isDangerous: true,
  },
};

interface BulkActionProps {
  action: Kind;
  filter: JobFilter;
  /** The queue of all of them, when there is one. */
  queue?: string | undefined;
  whyNot?: string | undefined;
  isSmall?: boolean;
  label?: string;
  onDone(): void;
}

export function BulkAction(props: BulkActionProps): JSX.Element {
  const { action, filter, queue, label, ...rest } = props;
  const { done, ...verb } = VERBS[action];
  return (
    <Action
      {...rest}
      {...verb}
      label={label ?? verb.label}
      title={`${verb.label} jobs`}
      needs={["operate", queue ?? ""]}
      fields={fieldsOf(action)}
      body={<Counted action={action} filter={filter} />}
      run={async (values, tell, signal) => {
        const { to = "", payload = "" } = values;
        const request: BulkRequest = { action, filter };
        if (to !== "") request.to = to;
        if (payload.trim() !== "") request.payload = parseJson("payload", payload);
        return outcome(await runBulk(request, tell, signal), done);
      }}
    />
  );
}

function fieldsOf(action: Kind): ActionField[] {
  if (action === "move") return [{ name: "to", label: "To queue" }];
  if (action !== "retry") return [];
  return [{ name: "to", label: "To queue", hint: "empty: where each of them came from" }];
}

function outcome(info: BulkInfo, done: string): string {
  const jobs = `${count(info.done)} ${info.done === 1 ? "job was" : "jobs were"} ${done}`;
  const stopped = info.state === "stopped" ? ", then it was stopped" : "";
  if (info.refused === 0) return `${jobs}${stopped}.`;
  return `${jobs}${stopped}, ${count(info.refused)} refused: ${info.refusal ?? ""}`;
}

/** Counts when the dialog opens, before anything is done. */
function Counted({ action, filter }: { action: Kind; filter: JobFilter }): JSX.Element {
  const [text, setText] = useState("Counting…");
  useEffect(() => {
    const asked = new AbortController();
    countBulk({ action, filter }, asked.signal).then(
      (jobs) => setText(jobs === undefined ? "Payloads are scanned for them." : matched(jobs)),
      (error) => asked.signal.aborted || setText(String(error.message)),
    );
    return () => asked.abort();
  }, [action, filter]);
  return (
    <p class="counted" aria-live="polite">
      {text}
    </p>
  );
}

const matched = (jobs: number): string =>
  `${count(jobs)} ${jobs === 1 ? "job matches" : "jobs match"} now. Jobs that are added later are left alone.`;
