import type { JobsJson, WorkerInfo } from "@sluice/protocol";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { at } from "../../data/api.ts";
import { useNow } from "../../data/context.ts";
import { ofQueue, useLive } from "../../data/live.ts";
import { HELD_SHOWN, WORKERS_SHOWN } from "../../limits.ts";
import { Empty, Frame, Head, Refused, Search } from "../../parts/bits.tsx";
import { ago, count, duration, laneText } from "../../words/format.ts";
import { link } from "../../words/route.ts";
import { visible } from "../../words/visible.ts";

export function Workers({ queue }: { queue: string }): JSX.Element {
  const [search, setSearch] = useState("");
  const { data, error } = useLive<{ items: WorkerInfo[] }>(
    at(["queues", queue, "workers"]),
    ofQueue(queue),
  );
  const found = (data?.items ?? []).filter(({ name }) => name.includes(search));
  return (
    <>
      <div class="tools">
        <Search label="Search workers" value={search} onSearch={setSearch} />
        <span class="muted">
          {data === undefined
            ? ""
            : `${count(found.length)} ${found.length === 1 ? "worker" : "workers"}`}
        </span>
      </div>
      <Refused error={error} />
      {found.length === 0 && data !== undefined && (
        <Empty title={search === "" ? "No worker is connected" : "No worker has this name."}>
          {search === "" && (
            <>
              <p>Jobs of this queue wait until one is. From a terminal:</p>
              <pre class="code">sluice consume {queue}</pre>
            </>
          )}
        </Empty>
      )}
      {found.slice(0, WORKERS_SHOWN).map((worker) => (
        <Worker key={worker.name} worker={worker} />
      ))}
      {found.length > WORKERS_SHOWN && (
        <p class="muted">
          {count(found.length - WORKERS_SHOWN)} more are not shown: search for a part of the name.
        </p>
      )}
    </>
  );
}

interface WorkerProps {
  worker: WorkerInfo;
  /** Whether its queue is shown: the page has workers of several. */
  hasQueue?: boolean;
}

export function Worker({ worker, hasQueue }: WorkerProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const { name, queue, free, running, place, since } = worker;
  const now = useNow();
  return (
    <details class="worker" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <b>{visible(name)}</b>
        {hasQueue === true && <span class="muted">{queue}</span>}
        <span class="muted place">
          {place !== undefined &&
            `${visible(place.host)}, process ${place.process}, Sluice ${visible(place.version)}`}
          {since !== undefined && ` · connected ${ago(now - since)}`}
        </span>
        <span class="holds">
          holds <b>{count(running)}</b>, {count(free)} free
        </span>
      </summary>
      {isOpen && <Held queue={queue} worker={name} />}
    </details>
  );
}

function Held({ queue, worker }: { queue: string; worker: string }): JSX.Element {
  const now = useNow();
  const query = { state: "running", worker, limit: HELD_SHOWN };
  const { data } = useLive<JobsJson>(at(["queues", queue, "jobs"], query), ofQueue(queue));
  const isCut = data?.cursor !== undefined;
  if (data?.items.length === 0) {
    return <Empty>{isCut ? "What it holds was not found yet." : "It holds nothing now."}</Empty>;
  }
  return (
    <Frame label={`jobs of ${worker}${isCut ? ", the first of them" : ""}`}>
      <table>
        <Head columns={["Job", "Lane", ">Attempt", ">Lease ends in"]} />
        <tbody>
          {data?.items.map(({ id, fairnessKey, attempt, attempts, at: until }) => (
            <tr key={id}>
              <th scope="row">
                <a href={link("jobs", id)}>{id}</a>
              </th>
              <td>{laneText(fairnessKey)}</td>
              <td class="number">
                {attempt + 1} of {attempts}
              </td>
              <td class="number">{until === undefined ? "–" : duration(until - now)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Frame>
  );
}
