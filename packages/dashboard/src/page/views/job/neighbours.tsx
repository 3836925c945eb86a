import type { DependencyInfo, Page } from "@sluice/protocol";
import type { JSX } from "preact";
import { at } from "../../data/api.ts";
import { type Concern, useLive } from "../../data/live.ts";
import { NEIGHBOURS_SHOWN } from "../../limits.ts";
import { Pill } from "../../parts/bits.tsx";
import { link } from "../../words/route.ts";
import { toneOf } from "../../words/tone.ts";

/** The jobs that a job waits for and that wait for it; nothing for a job without any. */
export function Neighbours({ id, concern }: { id: string; concern: Concern }): JSX.Element | null {
  const limit = { limit: NEIGHBOURS_SHOWN };
  const before = useLive<Page<DependencyInfo>>(at(["jobs", id, "dependencies"], limit), concern);
  const after = useLive<Page<DependencyInfo>>(at(["jobs", id, "dependents"], limit), concern);
  const count = (before.data?.items.length ?? 0) + (after.data?.items.length ?? 0);
  if (count === 0) return null;
  return (
    <section>
      <h2>Flow</h2>
      <Side title="Waits for" page={before.data} />
      <Side title="Needed by" page={after.data} />
      <p>
        <a href={link("jobs", id, "flow")}>Show the flow as a graph</a>
      </p>
    </section>
  );
}

interface SideProps {
  title: string;
  page: Page<DependencyInfo> | undefined;
}

function Side({ title, page }: SideProps): JSX.Element | null {
  if (page === undefined || page.items.length === 0) return null;
  return (
    <div class="neighbours">
      <h3>{title}</h3>
      <ul>
        {page.items.map(({ id, queue, state }) => (
          <li key={id}>
            <a href={link("jobs", id)}>{id}</a>
            <span class="muted">{queue ?? "a queue that was deleted"}</span>
            <Pill tone={toneOf(state)}>{state}</Pill>
          </li>
        ))}
        {page.cursor !== undefined && <li class="muted">and more</li>}
      </ul>
    </div>
  );
}
