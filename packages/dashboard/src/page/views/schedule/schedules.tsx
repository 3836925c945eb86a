import type { Page, ScheduleInfo } from "@sluice/protocol";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { at } from "../../data/api.ts";
import { useNow } from "../../data/context.ts";
import { useLive } from "../../data/live.ts";
import { SCHEDULES_PER_PAGE } from "../../limits.ts";
import {
  Empty,
  Frame,
  Head,
  PageHead,
  Pager,
  Pill,
  Refused,
  Search,
  When,
} from "../../parts/bits.tsx";
import { ago, count, duration, timeOfDay } from "../../words/format.ts";
import { lastOutcome, planText, stateOf } from "../../words/plan.ts";
import { link, type RouteQuery } from "../../words/route.ts";
import { visible } from "../../words/visible.ts";
import { PauseSchedule, RunSchedule, SetSchedule } from "./actions.tsx";

const COLUMNS = ["Schedule", "Plan", "Next run", "Last outcome", "State", ">Jobs", "Actions"];

export function SchedulesView({ query }: { query: RouteQuery }): JSX.Element {
  const [search, setSearch] = useState("");
  const [before, setBefore] = useState<readonly string[]>([]);
  const address = at(["schedules"], {
    search,
    queue: query.queue,
    limit: SCHEDULES_PER_PAGE,
    cursor: before.at(-1),
  });
  const { data, error, refresh } = useLive<Page<ScheduleInfo>>(address);
  const find = (text: string): void => {
    setSearch(text);
    setBefore([]);
  };
  return (
    <>
      <PageHead title="Schedules">
        <SetSchedule schedule={undefined} onDone={refresh} />
      </PageHead>
      <div class="tools">
        <Search label="Search schedules" value={search} onSearch={find} />
        {query.queue !== undefined && (
          <span>
            of queue {query.queue} <a href={link("schedules")}>show all</a>
          </span>
        )}
      </div>
      <Refused error={error} />
      <ScheduleTable items={data?.items} isSearch={search !== ""} onDone={refresh} />
      {(before.length > 0 || data?.cursor !== undefined) && (
        <Pager before={before} next={data?.cursor} onTurn={setBefore} />
      )}
    </>
  );
}

interface TableProps {
  items: readonly ScheduleInfo[] | undefined;
  isSearch: boolean;
  onDone(): void;
}

function ScheduleTable({ items, isSearch, onDone }: TableProps): JSX.Element {
  if (items === undefined) return <div class="skeleton" aria-busy="true" />;
  if (items.length === 0 && isSearch) return <Empty title="No schedule has this name." />;
  if (items.length === 0) return <First />;
  return (
    <Frame label="schedules">
      <table class="cards schedules">
        <Head columns={COLUMNS} />
        <tbody>
          {items.map((schedule) => (
            <ScheduleRow
              key={`${schedule.queue}/${schedule.name}`}
              schedule={schedule}
              onDone={onDone}
            />
          ))}
        </tbody>
      </table>
    </Frame>
  );
}

function First(): JSX.Element {
  return (
    <Empty title="There is no schedule yet">
      <p>A schedule adds a job at each of its ticks. Set one here, from a terminal:</p>
      <pre class="code">sluice schedule set nightly queue=reports cron='0 3 * * *'</pre>
      <p>or from your program:</p>
      <pre class="code">{`await sluice.schedule("nightly", { queue: "reports", cron: "0 3 * * *" });`}</pre>
    </Empty>
  );
}

interface RowProps {
  schedule: ScheduleInfo;
  onDone(): void;
}

function ScheduleRow({ schedule, onDone }: RowProps): JSX.Element {
  const now = useNow();
  const { name, queue, config, added } = schedule;
  const state = stateOf(schedule);
  return (
    <tr>
      <th scope="row">
        <a href={link("schedules", queue, name)}>{visible(name)}</a>
        <small class="muted below">
          adds to <a href={link("queues", queue)}>{queue}</a>
        </small>
      </th>
      <td data-label="plan" class="wide">
        <code>{visible(planText(config, now))}</code>
      </td>
      <td data-label="next run">
        <NextRun schedule={schedule} now={now} />
      </td>
      <td data-label="last outcome">
        <LastOutcome schedule={schedule} now={now} />
      </td>
      <td data-label="state">
        <Pill tone={state.tone}>{state.text}</Pill>
      </td>
      <td data-label="jobs" class="number">
        {count(added)}
      </td>
      <td class="wide">
        <span class="actions">
          <RunSchedule schedule={schedule} onDone={onDone} isSmall />
          <PauseSchedule schedule={schedule} onDone={onDone} isSmall />
        </span>
      </td>
    </tr>
  );
}

interface MomentProps {
  schedule: ScheduleInfo;
  now: number;
}

export function NextRun({ schedule: { next, paused }, now }: MomentProps): JSX.Element {
  const [first] = next;
  if (first === undefined) return <span class="muted">none</span>;
  if (paused) return <span class="muted">when resumed</span>;
  return (
    <When at={first}>
      in {duration(Math.max(0, first - now))}
      <small class="muted below">{timeOfDay(first, now)}</small>
    </When>
  );
}

export function LastOutcome({ schedule, now }: MomentProps): JSX.Element {
  const outcome = lastOutcome(schedule);
  if (outcome === undefined) return <span class="muted">none yet</span>;
  const { text, tone, at: when, id, error } = outcome;
  const pill = <Pill tone={tone}>{text}</Pill>;
  return (
    <span title={error === undefined ? undefined : visible(error)}>
      {id === undefined ? pill : <a href={link("jobs", id)}>{pill}</a>}
      <small class="muted below">
        <When at={when}>{ago(now - when)}</When>
      </small>
    </span>
  );
}
