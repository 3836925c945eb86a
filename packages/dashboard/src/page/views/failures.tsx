import type { FailureGroup, Failures } from "@sluice/protocol";
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { at } from "../data/api.ts";
import { useNow, usePlace } from "../data/context.ts";
import { useLive } from "../data/live.ts";
import { FAILURES_SHOWN } from "../limits.ts";
import { Choice, Empty, PageHead, Refused, Search, When } from "../parts/bits.tsx";
import { Body } from "../parts/body.tsx";
import { BulkAction } from "../parts/bulk-action.tsx";
import { Sparkline } from "../parts/sparkline.tsx";
import { ago, count } from "../words/format.ts";
import { filterOf, RANGES } from "../words/job-filter.ts";
import { plainBody } from "../words/preview.ts";
import { link, linkWith, type RouteQuery } from "../words/route.ts";
import { visible } from "../words/visible.ts";

/** Errors of all queues: jobs whose errors differ in numbers and ids alone are one group. */
export function FailuresView({ query }: { query: RouteQuery }): JSX.Element {
  const { line } = usePlace();
  const [range, setRange] = useState<string>("");
  const [queue, setQueue] = useState(query.queue ?? "");
  const since = useMemo(() => filterOf({ range }, line.serverNow()).since, [range]);
  const asked = { limit: FAILURES_SHOWN, queues: queue, since };
  const { data, error, refresh } = useLive<Failures>(at(["failures"], asked));
  return (
    <>
      <PageHead title="Failures" />
      <div class="tools">
        <Search label="Queue, or a prefix: orders.*" value={queue} onSearch={setQueue} />
        <Choice label="Failed" value={range} options={RANGES} onChoose={setRange} />
        <span class="muted">
          {data === undefined
            ? ""
            : `${count(data.total)} ${data.total === 1 ? "error" : "errors"}`}
        </span>
      </div>
      <Refused error={error} />
      {data === undefined && error === undefined && <div class="skeleton" aria-busy="true" />}
      {data?.items.length === 0 && (
        <Empty title="Nothing has failed">
          <p>Jobs that fail or die appear here, grouped by their errors, with retry and delete.</p>
        </Empty>
      )}
      <div class="failures">
        {data?.items.map((group) => (
          <Failure key={group.id} group={group} onDone={refresh} />
        ))}
      </div>
    </>
  );
}

function Failure({ group, onDone }: { group: FailureGroup; onDone(): void }): JSX.Element {
  const now = useNow();
  const { id, error, jobs, retrying, firstAt, lastAt, trend, queues } = group;
  const filter = useMemo(() => ({ failure: id, states: ["dead", "failed"] as const }), [id]);
  const [queue] = queues.length === 1 ? queues : [];
  const whyNot = jobs === 0 ? "None has ended: they are tried again by themselves." : undefined;
  return (
    <article class="failure">
      <header>
        <h2>{visible(error)}</h2>
        <figure>
          <Sparkline points={[...trend]} label="failures in each of the last 24 hours" tone="bad" />
          <figcaption class="muted">last 24 hours</figcaption>
        </figure>
      </header>
      <p class="asides">
        <span>
          <b>{count(jobs)}</b> dead or failed
        </span>
        <span>
          <b>{count(retrying)}</b> to be retried
        </span>
        <span>
          first <When at={firstAt}>{ago(now - firstAt)}</When>
        </span>
        <span>
          last <When at={lastAt}>{ago(now - lastAt)}</When>
        </span>
        <span>
          {queues.map(({ queue: name, jobs: some }, i) => (
            <span key={name}>
              {i > 0 && ", "}
              <a href={link("queues", name)}>{name}</a> {count(some)}
            </span>
          ))}
        </span>
      </p>
      <Example group={group} />
      <div class="actions">
        <BulkAction
          action="retry"
          filter={filter}
          queue={queue?.queue}
          isSmall
          whyNot={whyNot}
          onDone={onDone}
        />
        <BulkAction
          action="delete"
          filter={filter}
          queue={queue?.queue}
          isSmall
          whyNot={whyNot}
          onDone={onDone}
        />
        <a href={linkWith("jobs", { failure: id })}>Show the jobs</a>
        {whyNot !== undefined && <span class="muted">{whyNot}</span>}
      </div>
    </article>
  );
}

function Example({ group: { example } }: { group: FailureGroup }): JSX.Element {
  const { id, queue, error, stack } = example;
  return (
    <details class="more">
      <summary>
        Last: job {id} of {queue}
      </summary>
      <Body title="Error" text={plainBody(error)} copied={error} isBad />
      {stack !== undefined && <Body title="Stack" text={plainBody(stack)} copied={stack} />}
      <p>
        <a href={link("jobs", id)}>Open job {id}</a>
      </p>
    </details>
  );
}
