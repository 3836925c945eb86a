import type { WorkerInfo } from "@sluice/protocol";
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { at } from "../data/api.ts";
import { useLive } from "../data/live.ts";
import { HELD_SHOWN } from "../limits.ts";
import { Empty, PageHead, Refused, Search } from "../parts/bits.tsx";
import { WorkerTable } from "../parts/worker-table.tsx";
import { count } from "../words/format.ts";
import { type Steady, steadyOrder } from "../words/steady-order.ts";

interface WorkersAnswer {
  items: readonly WorkerInfo[];
  total: number;
}

const nameOf = ({ queue, name }: WorkerInfo): string => `${queue} ${name}`;

/** Workers of all queues, those first that hold most. */
export function WorkersView(): JSX.Element {
  const [search, setSearch] = useState("");
  const { data, error } = useLive<WorkersAnswer>(at(["workers"], { search, jobs: HELD_SHOWN }));
  const shown = useRef<Steady<WorkerInfo>>(undefined);
  shown.current = data && steadyOrder(shown.current, data.items, nameOf);
  const more = (data?.total ?? 0) - (data?.items.length ?? 0);
  return (
    <>
      <PageHead title="Workers" />
      <div class="tools">
        <Search label="Search workers and queues" value={search} onSearch={setSearch} />
        <span class="muted">
          {data === undefined
            ? ""
            : `${count(data.total)} ${data.total === 1 ? "worker" : "workers"}`}
        </span>
      </div>
      <Refused error={error} />
      {data?.items.length === 0 && (
        <Empty title={search === "" ? "No worker is connected" : "No worker has this name."}>
          {search === "" && (
            <>
              <p>Start one in your program, or from a terminal:</p>
              <pre class="code">{`queue.work(async (job) => send(job.payload));

sluice consume mail`}</pre>
            </>
          )}
        </Empty>
      )}
      {shown.current !== undefined && shown.current.rows.length > 0 && (
        <WorkerTable workers={shown.current.rows} hasQueue />
      )}
      {more > 0 && (
        <p class="muted">{count(more)} more are not shown: search for a part of the name.</p>
      )}
    </>
  );
}
