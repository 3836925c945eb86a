/** Workers: where each runs, and what it holds since when. */
import type { HeldJob, WorkerInfo } from "@sluice/protocol";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useNow } from "../data/context.ts";
import { ago, count, duration } from "../words/format.ts";
import { link, linkWith } from "../words/route.ts";
import { visible } from "../words/visible.ts";
import { Frame, Head, When } from "./bits.tsx";

export interface WorkerTableProps {
  workers: readonly WorkerInfo[];
  /** Whether their queues are shown: the page has workers of several. */
  hasQueue: boolean;
}

export function WorkerTable({ workers, hasQueue }: WorkerTableProps): JSX.Element {
  const queue = hasQueue ? ["Queue"] : [];
  const columns = ["Worker", ...queue, "Runs on", "Connected", ">Free", ">Holds", "Held longest"];
  return (
    <Frame label="workers">
      <table class={`cards workers ${hasQueue ? "" : "of-queue"}`}>
        <Head columns={columns} />
        <tbody>
          {workers.map((worker) => (
            <WorkerRow
              key={`${worker.queue} ${worker.name}`}
              worker={worker}
              hasQueue={hasQueue}
              columns={columns.length}
            />
          ))}
        </tbody>
      </table>
    </Frame>
  );
}

interface WorkerRowProps {
  worker: WorkerInfo;
  hasQueue: boolean;
  columns: number;
}

function WorkerRow({ worker, hasQueue, columns }: WorkerRowProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const now = useNow();
  const { name, queue, free, running, place, since, jobs = [] } = worker;
  return (
    <>
      <tr>
        <th scope="row">{visible(name)}</th>
        {hasQueue && (
          <td data-label="queue">
            <a href={link("queues", queue, "workers")}>{queue}</a>
          </td>
        )}
        <td data-label="runs on">
          {place === undefined ? (
            <span class="muted">not told</span>
          ) : (
            <>
              {visible(place.host)}
              <small class="place">
                process {place.process}, Sluice {visible(place.version)}
              </small>
            </>
          )}
        </td>
        <td data-label="connected">
          {since === undefined ? (
            <span class="muted">polls</span>
          ) : (
            <When at={since}>{ago(now - since)}</When>
          )}
        </td>
        <td class="number" data-label="free">
          {count(free)}
        </td>
        <td class="number" data-label="holds">
          <b>{count(running)}</b>
        </td>
        <td class="held" data-label="held longest">
          <span class="longest">
            <Longest jobs={jobs} now={now} />
            {(running > 1 || isOpen) && (
              <button
                type="button"
                class="small"
                aria-expanded={isOpen}
                onClick={() => setOpen(!isOpen)}
              >
                {isOpen ? "Hide" : "All"}
                <span class="unseen"> jobs of {name}</span>
              </button>
            )}
          </span>
        </td>
      </tr>
      {isOpen && (
        <tr class="more">
          <td colSpan={columns}>
            <Held worker={worker} now={now} />
          </td>
        </tr>
      )}
    </>
  );
}

function Longest({ jobs: [job], now }: { jobs: readonly HeldJob[]; now: number }): JSX.Element {
  if (job === undefined) return <span class="muted">nothing now</span>;
  return (
    <span>
      <a href={link("jobs", job.id)}>{job.id}</a>{" "}
      <When at={job.since}>{held(now - job.since)}</When>
    </span>
  );
}

/** It is counted up each second: parts of a second would only be read as noise. */
const held = (ms: number): string =>
  ms < 1000 ? "under 1\u202fs" : duration(Math.floor(ms / 1000) * 1000);

function Held({ worker, now }: { worker: WorkerInfo; now: number }): JSX.Element {
  const { name, queue, running, jobs = [] } = worker;
  const more = running - jobs.length;
  return (
    <>
      <Frame label={`jobs of ${name}`}>
        <table>
          <Head columns={["Job", ">Attempt", ">Held for", ">Lease ends in"]} />
          <tbody>
            {jobs.map(({ id, attempt, since, expiresAt }) => (
              <tr key={id}>
                <th scope="row">
                  <a href={link("jobs", id)}>{id}</a>
                </th>
                <td class="number">{attempt + 1}</td>
                <td class="number">
                  <When at={since}>{held(now - since)}</When>
                </td>
                <td class="number">{held(expiresAt - now)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Frame>
      {more > 0 && jobs.length > 0 && (
        <p class="muted">
          These it has held longest.{" "}
          <a href={linkWith("jobs", { state: "running", queue })}>All that run in {queue}</a>
        </p>
      )}
    </>
  );
}
