import type { ComponentChildren, JSX } from "preact";
import { Frame, Head } from "./bits.tsx";

interface ChoiceTableProps<Job extends { id: string }> {
  /** Its class, beside those of all tables of jobs. */
  kind?: string;
  columns: readonly string[];
  jobs: readonly Job[];
  selected: ReadonlySet<string>;
  onSelect(selected: ReadonlySet<string>): void;
  cellsOf(job: Job): ComponentChildren;
}

/** Jobs, each with a box that selects it, and a box that selects all of the page. */
export function ChoiceTable<Job extends { id: string }>(props: ChoiceTableProps<Job>): JSX.Element {
  const { kind = "", columns, jobs, selected, onSelect, cellsOf } = props;
  const toggle = (id: string): void => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    onSelect(next);
  };
  const isAll = jobs.length > 0 && jobs.every(({ id }) => selected.has(id));
  return (
    <Frame label="jobs">
      <table class={`cards jobs ${kind}`}>
        <Head columns={columns}>
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
            <tr key={job.id}>
              <td class="choose">
                <input
                  type="checkbox"
                  aria-label={`select job ${job.id}`}
                  checked={selected.has(job.id)}
                  onChange={() => toggle(job.id)}
                />
              </td>
              {cellsOf(job)}
            </tr>
          ))}
        </tbody>
      </table>
    </Frame>
  );
}
