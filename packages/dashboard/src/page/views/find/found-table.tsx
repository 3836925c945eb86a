import type { FoundJob } from "@sluice/protocol";
import type { JSX } from "preact";
import { useNow } from "../../data/context.ts";
import { ERROR_CHARS, LINE_CHARS } from "../../limits.ts";
import { Pill, When } from "../../parts/bits.tsx";
import { ChoiceTable } from "../../parts/choice-table.tsx";
import { age, laneText } from "../../words/format.ts";
import { cut } from "../../words/preview.ts";
import { link } from "../../words/route.ts";
import { toneOf } from "../../words/tone.ts";
import { visible } from "../../words/visible.ts";

const COLUMNS = ["Job", "State", "Lane", ">Age", ">Attempt", "Payload and last error"];

interface FoundTableProps {
  jobs: readonly FoundJob[] | undefined;
  selected: ReadonlySet<string>;
  onSelect(selected: ReadonlySet<string>): void;
}

export function FoundTable({ jobs, selected, onSelect }: FoundTableProps): JSX.Element {
  const now = useNow();
  if (jobs === undefined) return <div class="skeleton" aria-busy="true" />;
  const choice = { kind: "found", columns: COLUMNS, jobs, selected, onSelect };
  return <ChoiceTable {...choice} cellsOf={(job) => foundCells(job, now)} />;
}

function foundCells(job: FoundJob, now: number): JSX.Element {
  const { id, queue, state, fairnessKey, addedAt, attempts, error, dead, preview } = job;
  return (
    <>
      <th scope="row">
        <a href={link("jobs", id)}>{id}</a>
        <small class="muted below">
          <a href={link("queues", queue)}>{queue}</a>
        </small>
      </th>
      <td data-label="state">
        <Pill tone={toneOf(state)}>{state}</Pill>
      </td>
      <td class="lane" data-label="lane">
        {laneText(fairnessKey)}
      </td>
      <td class="number" data-label="age">
        <When at={addedAt}>{age(now - addedAt)}</When>
      </td>
      <td class="number" data-label="attempt">
        {dead?.attempts ?? job.attempt} / {attempts}
      </td>
      <td class="payload wide" data-label="payload">
        {visible(cut(preview, LINE_CHARS))}
        {error !== undefined && <small class="bad below">{visible(cut(error, ERROR_CHARS))}</small>}
      </td>
    </>
  );
}
