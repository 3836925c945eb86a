import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { at } from "../data/api.ts";
import { useNow } from "../data/context.ts";
import { useLive } from "../data/live.ts";
import { AUDIT_PER_PAGE, LINE_CHARS } from "../limits.ts";
import { Empty, Frame, Head, PageHead, Pager, Refused, Search, When } from "../parts/bits.tsx";
import { timeOfDay } from "../words/format.ts";
import { cut } from "../words/preview.ts";
import { visible } from "../words/visible.ts";

interface AuditEntry {
  id: string;
  at: number;
  who: string;
  name?: string;
  via: string;
  action: string;
  on: string;
  detail: string;
  times: number;
  refused?: number;
  error?: string;
}

const VIA: Readonly<Record<string, string>> = {
  page: "dashboard",
  command: "command line",
  http: "HTTP",
  stream: "program",
};

/** Who did what, and when. */
export function AuditView(): JSX.Element {
  const [text, setText] = useState("");
  const [before, setBefore] = useState<readonly string[]>([]);
  const query = { text, limit: AUDIT_PER_PAGE, cursor: before.at(-1) };
  const address = at(["audit"], query);
  const { data, error } = useLive<{ items: readonly AuditEntry[]; cursor?: string }>(address);
  return (
    <>
      <PageHead
        title="Audit log"
        note={
          <p class="standing muted">
            Every action on the dashboard and by the command line, and what programs delete or do
            with many jobs. The newest 10,000 are kept.
          </p>
        }
      />
      <div class="tools">
        <Search
          label="Who, what or on what"
          value={text}
          onSearch={(wanted) => {
            setText(wanted);
            setBefore([]);
          }}
        />
      </div>
      <Refused error={error} />
      {data?.items.length === 0 ? (
        <Empty title={text === "" ? "Nothing was done yet" : "No entry has this."} />
      ) : (
        <Frame label="audit log">
          <table class="cards">
            <Head columns={["Time", "Who", "By", "Action", "On", "Details"]} />
            <tbody>
              {data?.items.map((entry) => (
                <EntryRow key={entry.id} entry={entry} />
              ))}
            </tbody>
          </table>
        </Frame>
      )}
      {(before.length > 0 || data?.cursor !== undefined) && (
        <Pager before={before} next={data?.cursor} onTurn={setBefore} />
      )}
    </>
  );
}

function EntryRow({ entry }: { entry: AuditEntry }): JSX.Element {
  const now = useNow();
  const { at: when, who, name, via, action, on, detail, times, refused = times, error } = entry;
  const some = refused < times ? ` ${refused} times` : "";
  return (
    <tr>
      <td data-label="time">
        <When at={when}>{timeOfDay(when, now)}</When>
      </td>
      <th scope="row">
        {visible(name ?? who)}
        {name !== undefined && <small class="muted below">{who}</small>}
      </th>
      <td data-label="by">{VIA[via] ?? via}</td>
      <td data-label="action">
        {action}
        {times > 1 && <span class="muted"> {times} times</span>}
      </td>
      <td data-label="on" class="wide">
        {visible(cut(on, LINE_CHARS))}
      </td>
      <td data-label="details" class="wide muted">
        {error !== undefined && (
          <span class="bad">
            refused{some}: {visible(error)}{" "}
          </span>
        )}
        {visible(cut(detail, LINE_CHARS))}
      </td>
    </tr>
  );
}
