import type { Overview, QueueHistory, QueueInfo } from "@sluice/protocol";
import type { JSX } from "preact";
import { at } from "../../data/api.ts";
import { useNow } from "../../data/context.ts";
import { ofQueue, useLive } from "../../data/live.ts";
import { Fact, Refused } from "../../parts/bits.tsx";
import { Chart } from "../../parts/chart.tsx";
import { age, bytes, count, rate } from "../../words/format.ts";
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
          <Banner overview={overview} />
        </div>
        {data !== undefined && <QueueActions info={data} item={item} onDone={refresh} />}
      </header>
      <Refused error={error} />
      <Figures info={data} overview={overview} />
      <Charts queue={queue} isAside={tab !== "lanes"} />
      <Tiers info={data} />
      <nav class="tabs" aria-label={`parts of ${queue}`}>
        {QUEUE_TABS.map((one) => (
          <a
            key={one}
            href={link("queues", queue, one)}
            aria-current={one === tab ? "page" : undefined}
          >
            {one}
          </a>
        ))}
      </nav>
      <div class="tab">
        {tab === "lanes" && <Lanes queue={queue} tiers={data?.config.tiers} />}
        {tab === "jobs" && (
          <Jobs queue={queue} stats={data?.stats} isDeadLetters={item?.isDeadLetters === true} />
        )}
        {tab === "workers" && <Workers queue={queue} />}
        {tab === "settings" && <Settings info={data} onSaved={refresh} />}
      </div>
    </>
  );
}

function Banner({ overview }: { overview: Overview | undefined }): JSX.Element {
  const now = useNow();
  const item = overview?.items[0];
  if (item === undefined) return <p class="standing muted">…</p>;
  return <p class={`standing ${isTrouble(item) ? "warn" : "muted"}`}>{standingText(item, now)}</p>;
}

interface FiguresProps {
  info: QueueInfo | undefined;
  overview: Overview | undefined;
}

function Figures({ info, overview }: FiguresProps): JSX.Element {
  const now = useNow();
  const stats = info?.stats;
  const item = overview?.items[0];
  const oldestAt = item?.oldestAt;
  const figure = (value: number | undefined): string => (value === undefined ? "–" : count(value));
  return (
    <dl class="facts">
      <Fact label="waiting">{figure(stats?.waiting)}</Fact>
      <Fact label="oldest">{oldestAt === undefined ? "–" : age(now - oldestAt)}</Fact>
      <Fact label="running">{figure(stats?.running)}</Fact>
      <Fact label="free">{figure(stats?.freeWorkers)}</Fact>
      <Fact label="delayed">{figure(stats?.delayed)}</Fact>
      <Fact label="in / s">{rate(item?.inRate ?? 0)}</Fact>
      <Fact label="out / s">{rate(item?.outRate ?? 0)}</Fact>
      <Fact label="retried">{figure(stats?.retried)}</Fact>
      <Fact label="failed">{figure(stats?.failed)}</Fact>
      <Fact label="dead">{figure(stats?.dead)}</Fact>
      <Fact label="refused">{figure(stats?.rejected)}</Fact>
      <Fact label="lanes">{figure(stats?.lanes)}</Fact>
      <Fact label="bytes">{stats === undefined ? "–" : bytes(stats.bytes)}</Fact>
    </dl>
  );
}

function Charts({ queue, isAside }: { queue: string; isAside: boolean }): JSX.Element {
  const { data } = useLive<QueueHistory>(at(["queues", queue, "history"]));
  const times = data?.times ?? [];
  const series = data?.series;
  return (
    <div class={`charts ${isAside ? "aside" : ""}`}>
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
          { label: "half within", points: series?.waitP50 ?? [], tone: "two" },
          { label: "99% within", points: series?.waitP99 ?? [], tone: "one" },
        ]}
      />
      <Chart
        title="Waiting"
        times={times}
        show={count}
        series={[{ label: "jobs", points: series?.waiting ?? [], tone: "one" }]}
      />
    </div>
  );
}
