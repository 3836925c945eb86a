import type { FoundJobs, JobFilter } from "@sluice/protocol";
import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { at } from "../../data/api.ts";
import { usePlace } from "../../data/context.ts";
import { useLive } from "../../data/live.ts";
import { FOUND_PER_PAGE } from "../../limits.ts";
import { Choice, Empty, PageHead, Pager, Refused } from "../../parts/bits.tsx";
import { BulkAction } from "../../parts/bulk-action.tsx";
import { count } from "../../words/format.ts";
import { filterOf, filterQuery } from "../../words/job-filter.ts";
import { linkWith, type RouteQuery } from "../../words/route.ts";
import { Filters } from "./filters.tsx";
import { FoundTable } from "./found-table.tsx";

const ORDERS = [
  ["newest", "newest first"],
  ["oldest", "oldest first"],
] as const;

const ACTIONS = ["retry", "run", "move", "cancel", "delete"] as const;

/** Jobs of all queues, by filters that are part of the address. */
export function FindView({ query }: { query: RouteQuery }): JSX.Element {
  const { line } = usePlace();
  const key = JSON.stringify(query);
  // As of when the filter was set: an address that changes each second would be no page.
  const filter = useMemo(() => filterOf(query, line.serverNow()), [key]);
  const [before, setBefore] = useState<readonly string[]>([]);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    setBefore([]);
    setSelected(new Set());
  }, [key]);
  const order = query.order === "oldest" ? "oldest" : "newest";
  const asked = { ...filterQuery(filter), order, limit: FOUND_PER_PAGE, cursor: before.at(-1) };
  const { data, error, refresh } = useLive<FoundJobs>(at(["jobs"], asked));
  const turn = (cursors: readonly string[]): void => {
    setBefore(cursors);
    setSelected(new Set());
  };
  const go = (next: RouteQuery): void => {
    location.hash = linkWith("jobs", next);
  };
  return (
    <>
      <PageHead title="Jobs" />
      <Filters query={query} onChange={go} />
      <div class="tools">
        <Choice
          label="Sort by"
          value={order}
          options={ORDERS}
          onChoose={(by) => go({ ...query, order: by })}
        />
        <BulkActions
          filter={filter}
          selected={selected}
          onDone={() => {
            setSelected(new Set());
            refresh();
          }}
        />
      </div>
      <Refused error={error} />
      <Scanned page={data} />
      {data?.items.length === 0 && data.cursor === undefined ? (
        <Empty title="No job matches">
          <p>Ended jobs are kept for a day by default, as long as there is room for them.</p>
        </Empty>
      ) : (
        <FoundTable jobs={data?.items} selected={selected} onSelect={setSelected} />
      )}
      <Pager before={before} next={data?.cursor} onTurn={turn} />
    </>
  );
}

interface BulkActionsProps {
  filter: JobFilter;
  selected: ReadonlySet<string>;
  onDone(): void;
}

/** On those that are selected, or on all that match. */
function BulkActions({ filter, selected, onDone }: BulkActionsProps): JSX.Element {
  const isSome = selected.size > 0;
  const meant = useMemo(() => (isSome ? { ids: [...selected] } : filter), [filter, selected]);
  const isAll = Object.keys(meant).length === 0;
  return (
    <span class="actions">
      <span class="muted">{isSome ? `${count(selected.size)} selected` : "all that match"}:</span>
      {ACTIONS.map((action) => (
        <BulkAction
          key={action}
          action={action}
          filter={meant}
          isSmall
          whyNot={isAll ? "Filter the jobs first, or select some." : undefined}
          onDone={onDone}
        />
      ))}
    </span>
  );
}

/** How far a scan of payloads is. */
function Scanned({ page }: { page: FoundJobs | undefined }): JSX.Element | null {
  if (page?.scanned === undefined || page.total === undefined) return null;
  const rest = page.cursor === undefined ? "that is all" : "Next continues";
  return (
    <p class="muted" role="status">
      {count(page.scanned)} of {count(page.total)} jobs scanned; {rest}.
    </p>
  );
}
