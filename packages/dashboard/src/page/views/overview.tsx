import type { Overview, OverviewItem } from "@sluice/protocol";
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { at } from "../data/api.ts";
import { useNow } from "../data/context.ts";
import { always, useLive } from "../data/live.ts";
import { QUEUES_PER_PAGE } from "../limits.ts";
import { Choice, Empty, Fact, Head, Pager, Refused, Search } from "../parts/bits.tsx";
import { Sparkline } from "../parts/sparkline.tsx";
import { age, count, rate } from "../words/format.ts";
import { missingText } from "../words/missing.ts";
import { link } from "../words/route.ts";
import { isTrouble, standingText } from "../words/standing.ts";

const SORTS = [
  ["attention", "needs attention"],
  ["name", "name"],
  ["waiting", "waiting"],
  ["in", "rate in"],
  ["out", "rate out"],
  ["failures", "failures"],
] as const;

const COLUMNS = ["Queue", "Waiting", "In / s", "Out / s", "Oldest", "Failures / s", "Dead"];

type Sort = (typeof SORTS)[number][0];

/** The lines change every few seconds, the figures every second. */
const knownLines = ({ tick }: Overview): string => `&tick=${tick}`;

export function OverviewView(): JSX.Element {
  const [search, setSearch] = useState("");
  const [sort, setSort] = useState<Sort>("attention");
  const [before, setBefore] = useState<readonly string[]>([]);
  const address = at(["overview"], { search, sort, limit: QUEUES_PER_PAGE, cursor: before.at(-1) });
  const { data, error } = useLive<Overview>(address, always, knownLines);
  const find = (text: string): void => {
    setSearch(text);
    setBefore([]);
  };
  const order = (by: Sort): void => {
    setSort(by);
    setBefore([]);
  };
  return (
    <>
      <h1 class="unseen">Queues</h1>
      <Totals data={data} />
      <div class="tools">
        <Search label="Search queues" value={search} onSearch={find} />
        <Choice label="Order" value={sort} options={SORTS} onChoose={order} />
        <span class="muted">
          {data === undefined
            ? ""
            : `${count(data.total)} ${data.total === 1 ? "queue" : "queues"}`}
        </span>
      </div>
      <Refused error={error ?? missingText(data?.missing)} />
      <QueueTable items={data?.items} />
      {(before.length > 0 || data?.cursor !== undefined) && (
        <Pager before={before} next={data?.cursor} onTurn={setBefore} />
      )}
    </>
  );
}

function Totals({ data }: { data: Overview | undefined }): JSX.Element {
  const { queues = 0, waiting = 0, running = 0, inRate = 0, outRate = 0 } = data?.totals ?? {};
  return (
    <dl class="facts">
      <Fact label="queues">{count(queues)}</Fact>
      <Fact label="waiting">{count(waiting)}</Fact>
      <Fact label="running">{count(running)}</Fact>
      <Fact label="in / s">{rate(inRate)}</Fact>
      <Fact label="out / s">{rate(outRate)}</Fact>
    </dl>
  );
}

function QueueTable({ items }: { items: readonly OverviewItem[] | undefined }): JSX.Element {
  if (items === undefined) return <div class="skeleton" aria-busy="true" />;
  if (items.length === 0) return <Empty>There is no such queue.</Empty>;
  return (
    <table class="cards queues">
      <Head columns={COLUMNS} />
      <tbody>
        {items.map((item) => (
          <QueueRow key={item.name} item={item} />
        ))}
      </tbody>
    </table>
  );
}

function QueueRow({ item }: { item: OverviewItem }): JSX.Element {
  const now = useNow();
  const sparks = useRef(item.sparks);
  if (item.sparks !== undefined) sparks.current = item.sparks;
  const { name, stats, inRate, outRate, failureRate, deadLetters, dlq, oldestAt } = item;
  const lines = sparks.current;
  return (
    <tr>
      <th scope="row">
        <a href={link("queues", name)}>{name}</a>
        <StandingLine item={item} now={now} />
      </th>
      <td data-label="waiting">
        <Sparkline points={lines?.waiting} label={`waiting in ${name}`} />
        <b>{count(stats.waiting)}</b>
      </td>
      <td data-label="in / s">
        <Sparkline points={lines?.in} label={`rate into ${name}`} />
        <b>{rate(inRate)}</b>
      </td>
      <td data-label="out / s">
        <Sparkline points={lines?.out} label={`rate out of ${name}`} />
        <b>{rate(outRate)}</b>
      </td>
      <td data-label="oldest">{oldestAt === undefined ? "–" : age(now - oldestAt)}</td>
      <td data-label="failures / s" class={failureRate > 0 ? "bad" : ""}>
        <Sparkline points={lines?.failures} label={`failures in ${name}`} tone="bad" />
        <b>{rate(failureRate)}</b>
      </td>
      <td data-label="dead">
        {dlq === undefined ? "–" : <a href={link("queues", dlq, "jobs")}>{count(deadLetters)}</a>}
      </td>
    </tr>
  );
}

/** One line, always there: a queue that stops makes nothing jump. */
function StandingLine({ item, now }: { item: OverviewItem; now: number }): JSX.Element {
  const text = standingText(item, now);
  return (
    <small class={`standing ${isTrouble(item) ? "warn" : "muted"}`} title={text}>
      {text}
    </small>
  );
}
