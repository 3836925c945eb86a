import type { Overview, OverviewItem } from "@sluice/protocol";
import type { ComponentChildren, JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { at } from "../data/api.ts";
import { useNow, usePlace } from "../data/context.ts";
import { always, useLive } from "../data/live.ts";
import { QUEUES_PER_PAGE } from "../limits.ts";
import { Choice, Empty, Fact, Head, PageHead, Pager, Refused, Search } from "../parts/bits.tsx";
import { lazy } from "../parts/lazy.tsx";
import { Sparkline } from "../parts/sparkline.tsx";
import { age, count, rate } from "../words/format.ts";
import { mayAll } from "../words/may.ts";
import { missingText } from "../words/missing.ts";
import { link } from "../words/route.ts";
import { isTrouble, standingText } from "../words/standing.ts";
import { type Steady, steadyOrder } from "../words/steady-order.ts";

const SORTS = [
  ["attention", "needs attention"],
  ["name", "name"],
  ["waiting", "waiting"],
  ["in", "rate in"],
  ["out", "rate out"],
  ["failures", "failures"],
] as const;

const COLUMNS = ["Queue", ">Waiting", ">In / s", ">Out / s", ">Oldest", ">Failures / s", ">Dead"];

type Sort = (typeof SORTS)[number][0];

/** The form has the table of all options, which the first view does without. */
const CreateQueue = lazy(async () => (await import("./create-queue.tsx")).CreateQueue);

/** The lines change every few seconds, the figures every second. */
const knownLines = ({ tick }: Overview): string => `&tick=${tick}`;

export function OverviewView(): JSX.Element {
  const [search, setSearch] = useState("");
  const [sort, setSort] = useState<Sort>("attention");
  const [before, setBefore] = useState<readonly string[]>([]);
  const address = at(["overview"], { search, sort, limit: QUEUES_PER_PAGE, cursor: before.at(-1) });
  const { data, error, refresh } = useLive<Overview>(address, always, knownLines);
  const find = (text: string): void => {
    setSearch(text);
    setBefore([]);
  };
  const order = (by: Sort): void => {
    setSort(by);
    setBefore([]);
  };
  const items = useSteady(data?.items, sort);
  return (
    <>
      <PageHead title="Queues">
        <CreateButton onDone={refresh} />
      </PageHead>
      <Totals data={data} />
      <div class="tools">
        <Search label="Search queues" value={search} onSearch={find} />
        <Choice label="Sort by" value={sort} options={SORTS} onChoose={order} />
        <span class="muted">
          {data === undefined
            ? ""
            : `${count(data.total)} ${data.total === 1 ? "queue" : "queues"}`}
        </span>
      </div>
      <Refused error={error ?? missingText(data?.missing)} />
      <QueueTable items={items} isSearch={search !== ""} />
      {(before.length > 0 || data?.cursor !== undefined) && (
        <Pager before={before} next={data?.cursor} onTurn={setBefore} />
      )}
    </>
  );
}

/** An order by figures follows them, as it was asked for; that by attention holds still. */
function useSteady(
  items: readonly OverviewItem[] | undefined,
  sort: Sort,
): readonly OverviewItem[] | undefined {
  const last = useRef<Steady<OverviewItem>>(undefined);
  if (items === undefined) return undefined;
  const isSteady = sort === "attention";
  last.current = isSteady
    ? steadyOrder(last.current, items, ({ name }) => name, isTrouble)
    : undefined;
  return last.current?.rows ?? items;
}

/** The dialog is loaded when it is asked for. */
function CreateButton({ onDone }: { onDone(): void }): JSX.Element | null {
  const { session } = usePlace();
  const [isOpen, setOpen] = useState(false);
  if (!mayAll(session, "admin")) return null;
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Create a queue
      </button>
      {isOpen && <CreateQueue onDone={onDone} onClose={() => setOpen(false)} />}
    </>
  );
}

function Totals({ data }: { data: Overview | undefined }): JSX.Element {
  const totals = data?.totals;
  const attention = totals?.attention ?? 0;
  const figure = (value: number | undefined, show = count): string =>
    value === undefined ? "–" : show(value);
  return (
    <dl class="facts big">
      <Fact label="Needs attention" tone={attention > 0 ? "warn" : undefined}>
        {figure(totals?.attention)}
      </Fact>
      <Fact label="Waiting">{figure(totals?.waiting)}</Fact>
      <Fact label="Running">{figure(totals?.running)}</Fact>
      <Fact label="In / s">{figure(totals?.inRate, rate)}</Fact>
      <Fact label="Out / s">{figure(totals?.outRate, rate)}</Fact>
    </dl>
  );
}

interface QueueTableProps {
  items: readonly OverviewItem[] | undefined;
  isSearch: boolean;
}

function QueueTable({ items, isSearch }: QueueTableProps): JSX.Element {
  if (items === undefined) return <div class="skeleton" aria-busy="true" />;
  if (items.length === 0) return isSearch ? <Empty title="No queue has this name." /> : <First />;
  return (
    <div class="sheet">
      <table class="cards queues">
        <Head columns={COLUMNS} />
        <tbody>
          {items.map((item) => (
            <QueueRow key={item.name} item={item} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** What to do on a server that has no queue yet. */
function First(): JSX.Element {
  return (
    <Empty title="There is no queue yet">
      <p>A queue is created by its first job. Add one from a terminal:</p>
      <pre class="code">{`sluice add mail '{"to":"ann@example.org"}'
sluice consume mail --count 1`}</pre>
      <p>or from your program:</p>
      <pre class="code">{`const sluice = await Sluice.connect("${location.origin}");
const mail = await sluice.queue("mail");
await mail.add({ to: "ann@example.org" });`}</pre>
    </Empty>
  );
}

function QueueRow({ item }: { item: OverviewItem }): JSX.Element {
  const now = useNow();
  const sparks = useRef(item.sparks);
  if (item.sparks !== undefined) sparks.current = item.sparks;
  const { name, stats, inRate, outRate, failureRate, deadLetters, dlq, oldestAt } = item;
  const lines = sparks.current;
  const text = standingText(item, now);
  return (
    <tr>
      <th scope="row">
        <div class="named">
          <span class={`dot ${dotOf(item)}`} aria-hidden="true" />
          <a href={link("queues", name)}>{name}</a>
          <small class={`standing ${isTrouble(item) ? "warn" : "muted"}`} title={text}>
            {text}
          </small>
        </div>
      </th>
      <Figure label="waiting">
        <Sparkline points={lines?.waiting} label={`waiting in ${name}`} />
        <b>{count(stats.waiting)}</b>
      </Figure>
      <Figure label="in / s">
        <Sparkline points={lines?.in} label={`rate into ${name}`} />
        <b>{rate(inRate)}</b>
      </Figure>
      <Figure label="out / s">
        <Sparkline points={lines?.out} label={`rate out of ${name}`} />
        <b>{rate(outRate)}</b>
      </Figure>
      <Figure label="oldest">{oldestAt === undefined ? "–" : age(now - oldestAt)}</Figure>
      <Figure label="failures / s" isBad={failureRate > 0}>
        <Sparkline points={lines?.failures} label={`failures in ${name}`} tone="bad" />
        <b>{rate(failureRate)}</b>
      </Figure>
      <Figure label="dead">
        {dlq === undefined ? "–" : <a href={link("queues", dlq, "jobs")}>{count(deadLetters)}</a>}
      </Figure>
    </tr>
  );
}

interface FigureProps {
  label: string;
  isBad?: boolean;
  children: ComponentChildren;
}

function Figure({ label, isBad, children }: FigureProps): JSX.Element {
  return (
    <td data-label={label} class={isBad === true ? "number bad" : "number"}>
      <span class="figure">{children}</span>
    </td>
  );
}

function dotOf(item: OverviewItem): string {
  if (isTrouble(item)) return item.standing?.reason === "failing" ? "bad" : "warn";
  return item.outRate > 0 || item.stats.running > 0 ? "good" : "idle";
}
