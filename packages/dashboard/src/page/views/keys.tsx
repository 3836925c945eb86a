import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { at, call } from "../data/api.ts";
import { useNow } from "../data/context.ts";
import { useLive } from "../data/live.ts";
import { Action } from "../parts/action.tsx";
import { Empty, Frame, Head, PageHead, Refused, When } from "../parts/bits.tsx";
import { Body } from "../parts/body.tsx";
import { ago, timeOfDay } from "../words/format.ts";
import { grantLines, type KeyGrant, readGrants, roleText } from "../words/grants.ts";
import { visible } from "../words/visible.ts";

interface KeyInfo {
  id: string;
  name?: string;
  grants: readonly KeyGrant[];
  createdAt?: number;
  expiresAt?: number;
}

interface NewKey {
  name: string;
  key: string;
}

/** The keys that the key of this page could have made. */
export function KeysView(): JSX.Element {
  const { data, error, refresh } = useLive<{ items: readonly KeyInfo[] }>(at(["keys"]));
  const [made, setMade] = useState<NewKey>();
  return (
    <>
      <PageHead title="Keys">
        <CreateKey onMade={setMade} onDone={refresh} />
      </PageHead>
      {made !== undefined && (
        <div class="notice">
          <Body title={`The key ${made.name}, shown this once`} text={made.key} />
        </div>
      )}
      <Refused error={error} />
      {data?.items.length === 0 && (
        <Empty title="There is no other key">
          <p>Give each person and program a key of its own, with no more rights than it needs:</p>
          <pre class="code">sluice keys create --name ann --role viewer</pre>
        </Empty>
      )}
      {data !== undefined && data.items.length > 0 && (
        <Frame label="keys">
          <table class="cards">
            <Head columns={["Name", "May", "Created", "Expires", "Actions"]} />
            <tbody>
              {data.items.map((key) => (
                <KeyRow key={key.id} info={key} onDone={refresh} />
              ))}
            </tbody>
          </table>
        </Frame>
      )}
    </>
  );
}

function KeyRow({ info, onDone }: { info: KeyInfo; onDone(): void }): JSX.Element {
  const now = useNow();
  const { id, name = "", grants, createdAt, expiresAt } = info;
  const role = roleText(grants);
  return (
    <tr>
      <th scope="row">
        {visible(name || "without a name")}
        <small class="muted below">{id}</small>
      </th>
      <td data-label="may" class="wide">
        {role !== undefined && <div>{visible(role)}</div>}
        {role === undefined &&
          grantLines(grants).map((line) => <div key={line}>{visible(line)}</div>)}
      </td>
      <td data-label="created">
        {createdAt === undefined ? "–" : <When at={createdAt}>{ago(now - createdAt)}</When>}
      </td>
      <td data-label="expires">
        {expiresAt === undefined ? (
          "never"
        ) : (
          <When at={expiresAt}>{timeOfDay(expiresAt, now)}</When>
        )}
      </td>
      <td>
        <Action
          title={`Revoke ${name || id}`}
          label="Revoke"
          isSmall
          isDangerous
          text="Its next request is refused, on open connections too. This cannot be undone."
          verb="Revoke"
          run={async () => {
            await call("DELETE", at(["keys", id]));
            return `Key ${name || id} was revoked.`;
          }}
          onDone={onDone}
        />
      </td>
    </tr>
  );
}

interface CreateKeyProps {
  onMade(key: NewKey): void;
  onDone(): void;
}

function CreateKey({ onMade, onDone }: CreateKeyProps): JSX.Element {
  return (
    <Action
      title="Create a key"
      text="A key gets no more rights than yours has. It is shown once."
      verb="Create"
      fields={[
        { name: "name", label: "Name", hint: "for people: who or what uses it" },
        {
          name: "role",
          label: "Role",
          value: "viewer",
          options: [
            { value: "viewer", label: "viewer: reads" },
            { value: "operator", label: "operator: acts on jobs" },
            { value: "admin", label: "admin: does all" },
            { value: "", label: "none: only the grants below" },
          ],
        },
        { name: "on", label: "Queues", value: "*", hint: "a queue, a prefix with *, or *" },
        {
          name: "grants",
          label: "Grants in place of a role",
          kind: "lines",
          hint: "a line each: view, produce, consume, operate or admin, then a queue or prefix*",
        },
        { name: "days", label: "Valid for days", kind: "number", hint: "empty: without an end" },
      ]}
      run={async ({ name = "", role = "", on = "*", grants = "", days = "" }) => {
        const hasGrants = role.trim() === "" || grants.trim() !== "";
        const asked = hasGrants ? { grants: readGrants(grants) } : { role: role.trim(), on };
        const body: Record<string, unknown> = { name, ...asked };
        if (days.trim() !== "") body.expiresAt = Date.now() + Number(days) * 86_400_000;
        const { key } = await call<{ key: string }>("POST", at(["keys"]), { body });
        onMade({ name, key });
        return `Key ${name} was created.`;
      }}
      onDone={onDone}
    />
  );
}
