import type { FoundJob } from "@sluice/protocol";
import type { JSX } from "preact";
import { useNow } from "../../data/context.ts";
import { ERROR_CHARS, LINE_CHARS } from "../../limits.ts";
import { Frame, Head, Pill, When } from "../../parts/bits.tsx";
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
  const toggle = (id: string): void => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    onSelect(next);
  };
  const isAll = jobs.length > 0 && jobs.every(({ id }) => selected.has(id));
  return (
    <Frame label="jobs">
      <table class="cards jobs found">
        <Head columns={COLUMNS}>
          <th scope="col">
            <input
              type="checkbox"
              aria-label="select all of this page"
              checked={isAll}
              onChange={() => onSelect(new Set(isAll ? [] : jobs.map(({ id }) => id)))}
            />
          </th>
        </Head>
        <tbody>
          {jobs.map((job) => (
            <FoundRow
              key={job.id}
              job={job}
              now={now}
              isSelected={selected.has(job.id)}
              onSelect={() => toggle(job.id)}
            />
          ))}
        </tbody>
      </table>
    </Frame>
  );
}

interface FoundRowProps {
  job: FoundJob;
  now: number;
  isSelected: boolean;
  onSelect(): void;
}

function FoundRow({ job, now, isSelected, onSelect }: FoundRowProps): JSX.Element {
  const { id, queue, state, fairnessKey, addedAt, attempts, error, dead, preview } = job;
  return (
    <tr>
      <td class="choose">
        <input
          type="checkbox"
          aria-label={`select job ${id}`}
          checked={isSelected}
          onChange={onSelect}
        />
      </td>
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
    </tr>
  );
}
