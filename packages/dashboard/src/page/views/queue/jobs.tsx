import {
  JOB_STATES,
  type JobJson,
  type JobState,
  type JobsJson,
  type QueueStats,
} from "@sluice/protocol";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { at, call } from "../../data/api.ts";
import { useNow } from "../../data/context.ts";
import { ofQueue, useLive } from "../../data/live.ts";
import { eachJob } from "../../data/long-work.ts";
import { ERROR_CHARS, JOBS_PER_PAGE } from "../../limits.ts";
import { Action } from "../../parts/action.tsx";
import { Empty, Pager, Refused, Search } from "../../parts/bits.tsx";
import { ChoiceTable } from "../../parts/choice-table.tsx";
import { age, count, laneText } from "../../words/format.ts";
import { cut, previewLine } from "../../words/preview.ts";
import { link } from "../../words/route.ts";
import { visible } from "../../words/visible.ts";

export interface JobsProps {
  queue: string;
  stats: QueueStats | undefined;
  /** It is the dead letter queue of another. */
  isDeadLetters: boolean;
}

export function Jobs({ queue, stats, isDeadLetters }: JobsProps): JSX.Element {
  const first = isDeadLetters ? "dead" : "waiting";
  const [chosenState, setState] = useState<JobState>();
  const state = chosenState ?? first;
  const [search, setSearch] = useState("");
  const [before, setBefore] = useState<readonly string[]>([]);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const query = { state, search, limit: JOBS_PER_PAGE, cursor: before.at(-1) };
  const address = at(["queues", queue, "jobs"], query);
  const { data, error, refresh } = useLive<JobsJson>(address, ofQueue(queue));
  const turn = (cursors: readonly string[]): void => {
    setBefore(cursors);
    setChosen(new Set());
  };
  const look = (next: { state?: JobState; search?: string }): void => {
    setState(next.state ?? state);
    setSearch(next.search ?? search);
    turn([]);
  };
  return (
    <>
      <div class="tools">
        <StateChoice
          state={state}
          counts={{ [first]: stats?.waiting, delayed: stats?.delayed, running: stats?.running }}
          onChoose={(one) => look({ state: one })}
        />
        <Search
          label="Search ids, lanes, errors, payloads"
          value={search}
          onSearch={(text) => look({ search: text })}
        />
      </div>
      <ChosenActions
        queue={queue}
        ids={[...chosen]}
        onDone={() => turn(before)}
        refresh={refresh}
      />
      <Refused error={error} />
      <Looked page={data} />
      <JobTable jobs={data?.items} chosen={chosen} onChoose={setChosen} />
      <Pager before={before} next={data?.cursor} onTurn={turn} />
    </>
  );
}

interface StateChoiceProps {
  state: JobState;
  counts: Partial<Record<JobState, number | undefined>>;
  onChoose(state: JobState): void;
}

function StateChoice({ state, counts, onChoose }: StateChoiceProps): JSX.Element {
  return (
    <fieldset class="states">
      <legend class="unseen">State</legend>
      {JOB_STATES.map((one) => (
        <label key={one}>
          <input type="radio" name="state" checked={one === state} onChange={() => onChoose(one)} />
          <span>
            {one}
            {counts[one] === undefined ? "" : ` ${count(counts[one])}`}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** A search looks at a part of a long queue at a time. */
function Looked({ page }: { page: JobsJson | undefined }): JSX.Element | null {
  if (page?.looked === undefined) return null;
  const rest = page.cursor === undefined ? "that is all" : "Next continues";
  return (
    <p class="muted">
      {count(page.items.length)} found among {count(page.looked)} jobs looked at; {rest}.
    </p>
  );
}

const COLUMNS = ["Job", "Lane", ">Age", ">Attempt", "Payload", "Last error"];

interface JobTableProps {
  jobs: readonly JobJson[] | undefined;
  chosen: ReadonlySet<string>;
  onChoose(chosen: ReadonlySet<string>): void;
}

function JobTable({ jobs, chosen, onChoose }: JobTableProps): JSX.Element {
  const now = useNow();
  if (jobs === undefined) return <div class="skeleton" aria-busy="true" />;
  if (jobs.length === 0) return <Empty title="There is no such job." />;
  const choice = { columns: COLUMNS, jobs, selected: chosen, onSelect: onChoose };
  return <ChoiceTable {...choice} cellsOf={(job) => jobCells(job, now)} />;
}

function jobCells(job: JobJson, now: number): JSX.Element {
  const { id, fairnessKey, addedAt, attempts, error, dead } = job;
  // A dead letter has all its attempts again; those that it died of are what one looks for.
  const attempt = dead?.attempts ?? job.attempt;
  return (
    <>
      <th scope="row">
        <a href={link("jobs", id)}>{id}</a>
      </th>
      <td class="lane" data-label="lane">
        {laneText(fairnessKey)}
      </td>
      <td class="number" data-label="age">
        {age(now - addedAt)}
      </td>
      <td class="number" data-label="attempt">
        {attempt} / {attempts}
      </td>
      <td class="payload wide" data-label="payload">
        {previewLine(job)}
      </td>
      <td class="error wide" data-label="last error">
        {error === undefined ? "" : visible(cut(error, ERROR_CHARS))}
      </td>
    </>
  );
}

interface ChosenProps {
  queue: string;
  ids: readonly string[];
  onDone(): void;
  refresh(): void;
}

function ChosenActions({ queue, ids, onDone, refresh }: ChosenProps): JSX.Element {
  const done = (): void => {
    refresh();
    onDone();
  };
  const needs = ["produce", queue] as const;
  const whyNot = ids.length === 0 ? "Select jobs first." : undefined;
  const shared = { whyNot, isSmall: true, onDone: done, needs };
  const all = `${count(ids.length)} selected`;
  return (
    <div class="chosen">
      <span class="muted">{all}</span>
      <Action
        {...shared}
        title="Retry jobs"
        label="Retry"
        text={`${all}: those that have ended run again, delayed ones run at once.`}
        verb="Retry"
        run={(_, tell, signal) =>
          onEach(ids, "retried", (id) => call("POST", at(["jobs", id, "retry"])), tell, signal)
        }
      />
      <Action
        {...shared}
        title="Cancel jobs"
        label="Cancel"
        text={`${all}: those that have not ended are cancelled for good.`}
        verb="Cancel them"
        isDangerous
        run={(_, tell, signal) =>
          onEach(ids, "cancelled", (id) => call("DELETE", at(["jobs", id])), tell, signal)
        }
      />
    </div>
  );
}

async function onEach(
  ids: readonly string[],
  done: string,
  work: (id: string) => Promise<unknown>,
  tell: Parameters<typeof eachJob>[2],
  signal: AbortSignal,
): Promise<string> {
  const tally = await eachJob(ids, work, tell, signal);
  const [first] = tally.failed;
  const said = `${count(tally.done)} ${tally.done === 1 ? "job was" : "jobs were"} ${done}`;
  if (first === undefined) return `${said}.`;
  return `${said}, ${count(tally.failed.length)} were refused: ${first.message}.`;
}
