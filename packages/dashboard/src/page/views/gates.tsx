import type { GateInfo, GatesPage } from "@sluice/protocol";
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { at, call } from "../data/api.ts";
import { useNow, usePlace } from "../data/context.ts";
import { useLive } from "../data/live.ts";
import { GATES_PER_PAGE } from "../limits.ts";
import { Action } from "../parts/action.tsx";
import { Empty, PageHead, Pager, Refused, Search } from "../parts/bits.tsx";
import { count, countdown, duration, timeOfDay } from "../words/format.ts";
import { gateLimits } from "../words/gate-limits.ts";
import { mayCool } from "../words/may.ts";
import { link, linkWith } from "../words/route.ts";
import { type Steady, steadyOrder } from "../words/steady-order.ts";
import { visible } from "../words/visible.ts";
import { LimitAction } from "./gate-limits-form.tsx";

export function GatesView({ gate }: { gate?: string | undefined }): JSX.Element {
  const [search, setSearch] = useState(gate ?? "");
  const [before, setBefore] = useState<readonly string[]>([]);
  const query = { search, sort: "waiting", limit: GATES_PER_PAGE, cursor: before.at(-1) };
  const { data, error, refresh } = useLive<GatesPage>(at(["gates"], query));
  const shown = useRef<Steady<GateInfo>>(undefined);
  shown.current = data && steadyOrder(shown.current, data.items, ({ key }) => key);
  const find = (text: string): void => {
    setSearch(text);
    setBefore([]);
  };
  return (
    <>
      <PageHead title="Gates">
        <LimitAction gate={undefined} onDone={refresh} />
      </PageHead>
      <div class="tools">
        <Search label="Search gates" value={search} onSearch={find} />
        <span class="muted">
          {data === undefined ? "" : `${count(data.total)} ${data.total === 1 ? "gate" : "gates"}`}
        </span>
      </div>
      <Refused error={error} />
      {data?.items.length === 0 && <NoGate isSearch={search !== ""} />}
      <div class="gates">
        {shown.current?.rows.map((one) => (
          <Gate key={one.key} gate={one} onChange={refresh} />
        ))}
      </div>
      {(before.length > 0 || data?.cursor !== undefined) && (
        <Pager before={before} next={data?.cursor} onTurn={setBefore} />
      )}
    </>
  );
}

function NoGate({ isSearch }: { isSearch: boolean }): JSX.Element {
  if (isSearch) return <Empty title="No gate has this name." />;
  return (
    <Empty title="There is no gate yet">
      <p>
        A gate limits how many jobs pass: a rate, a number at once, a window. Jobs name their gates:
      </p>
      <pre class="code">{`await sluice.gate("smtp").set({ rate: 5, concurrency: 2 });
await mail.add({ to: "ann@example.org" }, { gates: ["smtp"] });`}</pre>
    </Empty>
  );
}

interface GateProps {
  gate: GateInfo;
  onChange(): void;
}

function Gate({ gate, onChange }: GateProps): JSX.Element {
  const now = useNow();
  const { session } = usePlace();
  const { key, config, pattern, ladderStep, cooldown } = gate;
  const isPattern = key.endsWith("*");
  return (
    <article class={`gate ${cooldown === undefined ? "" : "cooling"}`}>
      <header>
        <h2>{key}</h2>
        <span class="muted">
          {gateLimits(config).join(" · ")}
          {pattern === undefined ? "" : ` (by ${pattern})`}
        </span>
      </header>
      <p class="opening">{opening(gate, now)}</p>
      <div class="levels">
        {!isPattern && <Levels gate={gate} />}
        {ladderStep > 0 && <span class="warn">step {ladderStep} of its ladder</span>}
      </div>
      <Line gate={gate} />
      <div class="actions">
        <LimitAction gate={gate} onDone={onChange} />
        {mayCool(session, key) && (
          <>
            <CoolAction gate={gate} onDone={onChange} />
            <ClearAction gate={gate} onDone={onChange} />
          </>
        )}
        <RemoveLimits gate={gate} onDone={onChange} />
      </div>
    </article>
  );
}

/** When it opens, always in one line. */
function opening(gate: GateInfo, now: number): JSX.Element {
  const { key, cooldown, opensAt, part } = gate;
  if (key.endsWith("*")) return <span class="muted">a pattern: its gates have levels</span>;
  if (cooldown !== undefined) {
    const left = countdown(cooldown.until - now);
    const until = timeOfDay(cooldown.until, now);
    const reason = cooldown.reason === "" ? "" : `: ${visible(cooldown.reason)}`;
    return (
      <span class="warn">
        cooling down for {left}, until {until}
        {reason}
      </span>
    );
  }
  if (opensAt === undefined) {
    const why = part === "rate" ? "closed: its rate is 0" : "shut until something is released";
    return <span class="warn">{why}</span>;
  }
  if (opensAt <= now + 50) return <span class="good">open</span>;
  const by = part === undefined ? "" : ` (${part})`;
  return (
    <span class="muted">
      opens in {duration(opensAt - now)}
      {by}
    </span>
  );
}

function Levels({ gate }: { gate: GateInfo }): JSX.Element {
  const { tokens, config, windows, inFlight } = gate;
  const burst = config?.burst ?? Math.max(1, config?.rate ?? 1);
  return (
    <>
      {tokens !== undefined && (
        <Level
          label="tokens"
          value={tokens}
          max={burst}
          text={`${tokens.toFixed(1)} of ${burst}`}
        />
      )}
      {config?.concurrency !== undefined && (
        <Level
          label="in flight"
          value={inFlight}
          max={config.concurrency}
          text={`${inFlight} of ${config.concurrency}`}
        />
      )}
      {windows.map(({ limit, per, used }) => (
        <Level
          key={per}
          label={`in ${duration(per)}`}
          value={used}
          max={limit}
          text={`${count(used)} of ${count(limit)} used`}
        />
      ))}
    </>
  );
}

interface LevelProps {
  label: string;
  value: number;
  max: number;
  text: string;
}

function Level({ label, value, max, text }: LevelProps): JSX.Element {
  return (
    <span class="level">
      <span>{label}</span>
      <meter min={0} max={Math.max(1, max)} value={value} aria-label={`${label}: ${text}`} />
      <span class="number">{text}</span>
    </span>
  );
}

/** Who waits: whose lanes stand in its line. */
function Line({ gate }: { gate: GateInfo }): JSX.Element {
  const { config, inFlight } = gate;
  // A limit of its own shows it above; a pattern has none.
  const isShown = config?.concurrency !== undefined || gate.key.endsWith("*");
  const flight = isShown ? "" : ` · ${count(inFlight)} in flight`;
  if (gate.line.length === 0) return <p class="muted line">no lane waits{flight}</p>;
  return (
    <p class="line">
      {count(gate.waitingLanes)} {gate.waitingLanes === 1 ? "lane waits" : "lanes wait"}:{" "}
      {gate.line.map(({ queue, tier, lanes }, i) => (
        <span key={`${queue}:${tier}`}>
          {i > 0 && ", "}
          <a href={link("queues", queue)}>{queue}</a> tier {tier} ({count(lanes)})
        </span>
      ))}
      {flight}
      {" · "}
      <a href={linkWith("jobs", { gate: gate.key, state: "waiting" })}>Show the jobs</a>
    </p>
  );
}

interface GateActionProps {
  gate: GateInfo;
  onDone(): void;
}

function CoolAction({ gate, onDone }: GateActionProps): JSX.Element {
  const { key } = gate;
  return (
    <Action
      title={`Cool ${key} down`}
      label="Cool down"
      isSmall
      whyNot={key.endsWith("*") ? "A pattern is no gate: cool its gates down." : undefined}
      text={`Nothing passes ${key} for a while. A cooldown never gets shorter by this.`}
      verb="Cool down"
      fields={[
        { name: "seconds", label: "Seconds", value: "60", kind: "number" },
        { name: "reason", label: "Reason" },
      ]}
      run={async ({ seconds, reason }) => {
        const ms = Number(seconds) * 1000;
        if (!(ms > 0)) throw new Error("the seconds must be a number above 0");
        await call("POST", at(["gates", key, "cooldown"]), { body: { duration: ms, reason } });
        return `${key} cools down for ${duration(ms)}.`;
      }}
      onDone={onDone}
    />
  );
}

/** A gate by a pattern has no limits of its own to remove. */
function RemoveLimits({ gate, onDone }: GateActionProps): JSX.Element | null {
  const { key, config, pattern } = gate;
  if (config === undefined || pattern !== undefined) return null;
  return (
    <Action
      title={`Remove the limits of ${key}`}
      label="Remove"
      isSmall
      isDangerous
      text="Jobs that waited for it can run at once, unless a pattern limits it."
      verb="Remove"
      needs={["admin", "*"]}
      run={async () => {
        await call("DELETE", at(["gates", key]));
        return `${key} has no limits of its own any more.`;
      }}
      onDone={onDone}
    />
  );
}

function ClearAction({ gate, onDone }: GateActionProps): JSX.Element {
  const { key, cooldown } = gate;
  return (
    <Action
      title={`End the cooldown of ${key}`}
      label="End cooldown"
      isSmall
      whyNot={cooldown === undefined ? `${key} is not cooling down.` : undefined}
      text={`Jobs pass ${key} again as its other limits allow.`}
      verb="End it"
      run={async () => {
        await call("DELETE", at(["gates", key, "cooldown"]));
        return `${key} is not cooling down any more.`;
      }}
      onDone={onDone}
    />
  );
}
