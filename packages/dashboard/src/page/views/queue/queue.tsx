import type { Overview, OverviewItem, QueueHistory, QueueInfo } from "@sluice/protocol";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { at } from "../../data/api.ts";
import { useNow } from "../../data/context.ts";
import { ofQueue, useLive } from "../../data/live.ts";
import { Choice, Fact, Refused } from "../../parts/bits.tsx";
import { Chart } from "../../parts/chart.tsx";
import { age, bytes, capital, count, rate } from "../../words/format.ts";
import { link, QUEUE_TABS, type QueueTab } from "../../words/route.ts";
import { isTrouble, standingText } from "../../words/standing.ts";
import { QueueActions } from "./actions.tsx";
import { Jobs } from "./jobs.tsx";
import { Lanes } from "./lanes.tsx";
import { Settings } from "./settings.tsx";
import { Tiers } from "./tiers.tsx";
import { Workers } from "./workers.tsx";

export function QueueView({ queue, tab }: { queue: string; tab: QueueTab }): JSX.Element {
  const concern = ofQueue(queue);
  const { data, error, refresh } = useLive<QueueInfo>(at(["queues", queue]), concern);
  const { data: overview } = useLive<Overview>(at(["overview"], { queue }));
  const item = overview?.items[0];
  return (
    <>
      <header class="head">
        <div>
          <h1>{queue}</h1>
          <Banner item={item} />
        </div>
        {data !== undefined && <QueueActions info={data} item={item} onDone={refresh} />}
      </header>
      <Refused error={error} />
      <Figures info={data} item={item} />
      <nav class="tabs" aria-label={`parts of ${queue}`}>
        {QUEUE_TABS.map((one) => (
          <a
            key={one}
            href={link("queues", queue, one)}
            aria-current={one === tab ? "page" : undefined}
          >
            {one === "lanes" ? "Overview" : capital(one)}
          </a>
        ))}
      </nav>
      <div class="tab">
        {tab === "lanes" && (
          <>
            <Charts queue={queue} />
            <Tiers info={data} />
            <h2>Lanes</h2>
            <Lanes queue={queue} tiers={data?.config.tiers} />
          </>
        )}
        {tab === "jobs" && (
          <Jobs queue={queue} stats={data?.stats} isDeadLetters={item?.isDeadLetters === true} />
        )}
        {tab === "workers" && <Workers queue={queue} />}
        {tab === "settings" && <Settings info={data} onSaved={refresh} />}
      </div>
    </>
  );
}

function Banner({ item }: { item: OverviewItem | undefined }): JSX.Element {
  const now = useNow();
  if (item === undefined) return <p class="standing muted">…</p>;
  return <p class={`standing ${isTrouble(item) ? "warn" : "muted"}`}>{standingText(item, now)}</p>;
}

interface FiguresProps {
  info: QueueInfo | undefined;
  item: OverviewItem | undefined;
}

const figure = (value: number | undefined): string => (value === undefined ? "–" : count(value));

function Figures({ info, item }: FiguresProps): JSX.Element {
  const now = useNow();
  const stats = info?.stats;
  const oldestAt = item?.oldestAt;
  const dead = item?.deadLetters ?? 0;
  return (
    <>
      <dl class="facts big">
        <Fact label="Waiting">{figure(stats?.waiting)}</Fact>
        <Fact label="Oldest">{oldestAt === undefined ? "–" : age(now - oldestAt)}</Fact>
        <Fact label="Running">{figure(stats?.running)}</Fact>
        <Fact label="In / s">{rate(item?.inRate ?? 0)}</Fact>
        <Fact label="Out / s">{rate(item?.outRate ?? 0)}</Fact>
        <Fact label="Failures / s" tone={(item?.failureRate ?? 0) > 0 ? "bad" : undefined}>
          {rate(item?.failureRate ?? 0)}
        </Fact>
        <Fact label="Dead letters" tone={dead > 0 ? "bad" : undefined}>
          {item?.dlq === undefined ? (
            "–"
          ) : (
            <a href={link("queues", item.dlq, "jobs")}>{count(dead)}</a>
          )}
        </Fact>
      </dl>
      <Asides info={info} />
    </>
  );
}

function Asides({ info }: { info: QueueInfo | undefined }): JSX.Element {
  const stats = info?.stats;
  const facts = [
    ["free slots", figure(stats?.freeWorkers)],
    ["delayed", figure(stats?.delayed)],
    ["retried", figure(stats?.retried)],
    ["failed", figure(stats?.failed)],
    ["dead", figure(stats?.dead)],
    ["refused", figure(stats?.rejected)],
    ["lanes", figure(stats?.lanes)],
    ["payloads", stats === undefined ? "–" : bytes(stats.bytes)],
  ] as const;
  return (
    <p class="asides">
      {facts.map(([label, value]) => (
        <span key={label}>
          {label} <b>{value}</b>
        </span>
      ))}
    </p>
  );
}

const RANGES = [
  ["30m", "the last 30 minutes"],
  ["6h", "the last 6 hours"],
  ["24h", "the last 24 hours"],
] as const;
type Range = (typeof RANGES)[number][0];

function Charts({ queue }: { queue: string }): JSX.Element {
  const [range, setRange] = useState<Range>("30m");
  const { data } = useLive<QueueHistory>(at(["queues", queue, "history"], { range }));
  const times = data?.times ?? [];
  const series = data?.series;
  return (
    <>
      <div class="tools ranges">
        <Choice<Range> label="Charts of" value={range} options={RANGES} onChoose={setRange} />
      </div>
      <div class="charts">
        <Chart
          title="Throughput, jobs a second"
          times={times}
          show={rate}
          series={[
            { label: "in", points: series?.in ?? [], tone: "one" },
            { label: "out", points: series?.out ?? [], tone: "two" },
            { label: "failures", points: series?.failures ?? [], tone: "bad" },
          ]}
        />
        <Chart
          title="Time from due to dispatch"
          times={times}
          show={age}
          series={[
            { label: "p50", points: series?.waitP50 ?? [], tone: "two" },
            { label: "p99", points: series?.waitP99 ?? [], tone: "one" },
          ]}
        />
        <Chart
          title="Waiting jobs"
          times={times}
          show={count}
          series={[{ label: "jobs", points: series?.waiting ?? [], tone: "one" }]}
        />
      </div>
    </>
  );
}
