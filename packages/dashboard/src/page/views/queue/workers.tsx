import type { WorkerInfo } from "@sluice/protocol";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { at } from "../../data/api.ts";
import { ofQueue, useLive } from "../../data/live.ts";
import { HELD_SHOWN, WORKERS_SHOWN } from "../../limits.ts";
import { Empty, Refused, Search } from "../../parts/bits.tsx";
import { WorkerTable } from "../../parts/worker-table.tsx";
import { count } from "../../words/format.ts";

export function Workers({ queue }: { queue: string }): JSX.Element {
  const [search, setSearch] = useState("");
  const { data, error } = useLive<{ items: WorkerInfo[] }>(
    at(["queues", queue, "workers"], { jobs: HELD_SHOWN }),
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
      {found.length > 0 && <WorkerTable workers={found.slice(0, WORKERS_SHOWN)} hasQueue={false} />}
      {found.length > WORKERS_SHOWN && (
        <p class="muted">
          {count(found.length - WORKERS_SHOWN)} more are not shown: search for a part of the name.
        </p>
      )}
    </>
  );
}
