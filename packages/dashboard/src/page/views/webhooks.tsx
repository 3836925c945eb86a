import { counted, EVENT_NAMES } from "@sluice/protocol";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { at, call } from "../data/api.ts";
import { useNow } from "../data/context.ts";
import { useLive } from "../data/live.ts";
import { Action } from "../parts/action.tsx";
import { Empty, Frame, Head, PageHead, Refused, When } from "../parts/bits.tsx";
import { Body } from "../parts/body.tsx";
import { ago } from "../words/format.ts";
import { linkWith } from "../words/route.ts";
import { visible } from "../words/visible.ts";

/** Where the server keeps the messages. */
const QUEUE = "sluice-webhooks";

interface WebhookInfo {
  id: string;
  url: string;
  name: string;
  events: readonly string[];
  queues: readonly string[];
  states?: readonly string[];
  createdAt: number;
  stopped?: string;
  dropped?: { count: number; lastAt: number };
}

interface Made {
  name: string;
  secret: string;
}

/** Addresses that are called when something happens. */
export function WebhooksView(): JSX.Element {
  const { data, error, refresh } = useLive<{ items: readonly WebhookInfo[] }>(at(["webhooks"]));
  const [made, setMade] = useState<Made>();
  return (
    <>
      <PageHead
        title="Webhooks"
        note={<p class="standing muted">Addresses that are called when something happens.</p>}
      >
        <CreateWebhook onMade={setMade} onDone={refresh} />
      </PageHead>
      {made !== undefined && (
        <div class="notice">
          <Body title={`The secret of ${made.name}, shown this once`} text={made.secret} />
        </div>
      )}
      <Refused error={error} />
      {data?.items.length === 0 && (
        <Empty title="No webhook yet">
          <p>
            A webhook tells your pager or chat when a job is dead. Messages are signed, and tried
            again until they arrive.
          </p>
          <pre class="code">sluice webhooks create https://ops.example.com/hook --event dead</pre>
        </Empty>
      )}
      {data !== undefined && data.items.length > 0 && (
        <Frame label="webhooks">
          <table class="cards">
            <Head columns={["Webhook", "Called for", "Queues", "Created", "Messages", "Actions"]} />
            <tbody>
              {data.items.map((webhook) => (
                <WebhookRow key={webhook.id} info={webhook} onDone={refresh} />
              ))}
            </tbody>
          </table>
        </Frame>
      )}
    </>
  );
}

function WebhookRow({ info, onDone }: { info: WebhookInfo; onDone(): void }): JSX.Element {
  const now = useNow();
  const { id, url, name, events, queues, states = [], createdAt, stopped, dropped } = info;
  const messages = (queue: string): string => linkWith("jobs", { queue, lane: id });
  return (
    <tr>
      <th scope="row">
        {visible(name || id)}
        <small class="muted below">{visible(url)}</small>
        {stopped !== undefined && <small class="warn below">stopped: {visible(stopped)}</small>}
        {dropped !== undefined && (
          <small class="warn below">
            {counted(dropped.count, "message")} dropped because too many waited, the last{" "}
            {ago(now - dropped.lastAt)}
          </small>
        )}
      </th>
      <td data-label="called for" class="wide">
        {[...events, ...states].join(", ")}
      </td>
      <td data-label="queues">{queues.includes("*") ? "all" : visible(queues.join(", "))}</td>
      <td data-label="created">
        <When at={createdAt}>{ago(now - createdAt)}</When>
      </td>
      <td data-label="messages">
        <a href={messages(QUEUE)}>all</a> · <a href={messages(`${QUEUE}.dlq`)}>given up</a>
      </td>
      <td>
        <span class="actions">
          <Action
            title={`Test ${name || id}`}
            label="Test"
            isSmall
            text={`A message of type "test" is sent to ${url}.`}
            verb="Send"
            run={async () => {
              const { job } = await call<{ job: string }>("POST", at(["webhooks", id, "test"]));
              return `The message is job ${job}.`;
            }}
          />
          <Action
            title={`Delete ${name || id}`}
            label="Delete"
            isSmall
            isDangerous
            text="It is called no more, and its messages that wait are given up."
            verb="Delete"
            run={async () => {
              await call("DELETE", at(["webhooks", id]));
              return `Webhook ${name || id} was deleted.`;
            }}
            onDone={onDone}
          />
        </span>
      </td>
    </tr>
  );
}

const words = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== "");

interface CreateProps {
  onMade(made: Made): void;
  onDone(): void;
}

function CreateWebhook({ onMade, onDone }: CreateProps): JSX.Element {
  return (
    <Action
      title="Create a webhook"
      text="Its messages are signed with a secret that is shown once."
      verb="Create"
      fields={[
        { name: "url", label: "Address", hint: "public, on port 80 or 443" },
        { name: "name", label: "Name", hint: "for people" },
        {
          name: "events",
          label: "Events",
          value: "dead",
          hint: `with commas between them: ${EVENT_NAMES.slice(0, 12).join(", ")}, …`,
        },
        { name: "queues", label: "Queues", value: "*", hint: "names or prefixes with *, or *" },
      ]}
      run={async ({ url = "", name = "", events = "", queues = "" }) => {
        const body = { url: url.trim(), name, events: words(events), queues: words(queues) };
        const { secret, id } = await call<{ secret: string; id: string }>(
          "POST",
          at(["webhooks"]),
          { body },
        );
        onMade({ name: name || id, secret });
        return `Webhook ${name || id} was created.`;
      }}
      onDone={onDone}
    />
  );
}
