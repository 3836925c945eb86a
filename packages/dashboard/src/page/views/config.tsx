import type { Page, StoreEntry } from "@sluice/protocol";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { at, call } from "../data/api.ts";
import { useLive } from "../data/live.ts";
import { CONFIG_PER_PAGE, LINE_CHARS } from "../limits.ts";
import { Action } from "../parts/action.tsx";
import { Empty, Frame, Head, PageHead, Pager, Refused, Search } from "../parts/bits.tsx";
import { parseJson } from "../words/new-job.ts";
import { cut } from "../words/preview.ts";
import { visible } from "../words/visible.ts";

/** The values that policies read. */
export function ConfigView(): JSX.Element {
  const [prefix, setPrefix] = useState("");
  const [before, setBefore] = useState<readonly string[]>([]);
  const query = { prefix, limit: CONFIG_PER_PAGE, cursor: before.at(-1) };
  const { data, error, refresh } = useLive<Page<StoreEntry>>(at(["config"], query));
  return (
    <>
      <PageHead
        title="Configuration"
        note={<p class="standing muted">Values that the policies of queues read.</p>}
      >
        <SetValue entry={undefined} onDone={refresh} />
      </PageHead>
      <div class="tools">
        <Search
          label="Keys that begin with"
          value={prefix}
          onSearch={(text) => {
            setPrefix(text);
            setBefore([]);
          }}
        />
      </div>
      <Refused error={error} />
      {data?.items.length === 0 ? (
        <Empty title={prefix === "" ? "No value is set" : "No key begins like this."}>
          {prefix === "" && (
            <>
              <p>A policy reads values by their keys, such as limits per customer:</p>
              <pre class="code">{`sluice config set limits '{"acme":5}'`}</pre>
            </>
          )}
        </Empty>
      ) : (
        <Entries items={data?.items} onDone={refresh} />
      )}
      {(before.length > 0 || data?.cursor !== undefined) && (
        <Pager before={before} next={data?.cursor} onTurn={setBefore} />
      )}
    </>
  );
}

interface EntriesProps {
  items: readonly StoreEntry[] | undefined;
  onDone(): void;
}

function Entries({ items = [], onDone }: EntriesProps): JSX.Element {
  return (
    <Frame label="configuration">
      <table class="cards">
        <Head columns={["Key", "Value", "Actions"]} />
        <tbody>
          {items.map((entry) => (
            <tr key={entry.key}>
              <th scope="row">{visible(entry.key)}</th>
              <td class="payload wide" data-label="value">
                {visible(cut(JSON.stringify(entry.value), LINE_CHARS))}
              </td>
              <td>
                <span class="actions">
                  <SetValue entry={entry} onDone={onDone} />
                  <DeleteValue entry={entry} onDone={onDone} />
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Frame>
  );
}

interface SetValueProps {
  /** Absent: a new one. */
  entry: StoreEntry | undefined;
  onDone(): void;
}

function SetValue({ entry, onDone }: SetValueProps): JSX.Element {
  const value = entry === undefined ? "" : JSON.stringify(entry.value, null, 2);
  return (
    <Action
      title={entry === undefined ? "Set a value" : `Change ${entry.key}`}
      label={entry === undefined ? "Set a value" : "Change"}
      text="Policies read the new value for the next job."
      verb="Set"
      isSmall={entry !== undefined}
      needs={["admin", "*"]}
      fields={[
        ...(entry === undefined ? [{ name: "key", label: "Key" }] : []),
        { name: "value", label: "Value, as JSON", kind: "lines" as const, value },
      ]}
      run={async (values) => {
        const key = entry?.key ?? values.key ?? "";
        if (key === "") throw new Error("the value needs a key");
        const body = { value: parseJson("value", values.value ?? "") };
        await call("PUT", at(["config", key]), { body });
        return `${key} is set.`;
      }}
      onDone={onDone}
    />
  );
}

function DeleteValue({
  entry: { key },
  onDone,
}: SetValueProps & { entry: StoreEntry }): JSX.Element {
  return (
    <Action
      title={`Delete ${key}`}
      label="Delete"
      isSmall
      isDangerous
      text="Policies no longer find this value."
      verb="Delete"
      needs={["admin", "*"]}
      run={async () => {
        await call("DELETE", at(["config", key]));
        return `${key} was deleted.`;
      }}
      onDone={onDone}
    />
  );
}
