import type { AppAction, AppJson, AppSection, AppValue } from "@sluice/protocol";
import type { JSX } from "preact";
import { at, call } from "../data/api.ts";
import { useNow } from "../data/context.ts";
import { useLive } from "../data/live.ts";
import { NARROW_CHARS } from "../limits.ts";
import { Action } from "../parts/action.tsx";
import { Empty, Fact, Frame, Refused } from "../parts/bits.tsx";
import { Chart } from "../parts/chart.tsx";
import type { ChartSeries } from "../parts/chart-series.ts";
import { alignSeries } from "../words/align-series.ts";
import { count, fullTime, timeOfDay } from "../words/format.ts";
import { link } from "../words/route.ts";
import { visible } from "../words/visible.ts";

interface AppsAnswer {
  items: { name: string; title: string }[];
}

export function AppsView({ app }: { app: string | undefined }): JSX.Element {
  const { data, error } = useLive<AppsAnswer>(at(["apps"]));
  const shown = app ?? data?.items[0]?.name;
  if (data?.items.length === 0) return <Empty>No app has a page here.</Empty>;
  return (
    <>
      <Refused error={error} />
      {data !== undefined && data.items.length > 1 && (
        <nav class="tabs" aria-label="apps">
          {data.items.map(({ name, title }) => (
            <a
              key={name}
              href={link("apps", name)}
              aria-current={name === shown ? "page" : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
      )}
      {shown !== undefined && <AppView key={shown} name={shown} />}
    </>
  );
}

function AppView({ name }: { name: string }): JSX.Element {
  const { data, error, refresh } = useLive<AppJson>(at(["apps", name]));
  return (
    <>
      <header class="head">
        <h1>{data?.title ?? name}</h1>
        <div class="actions">
          {data?.view.actions?.map((action) => (
            <DoAction key={action.name} app={name} action={action} onDone={refresh} />
          ))}
        </div>
      </header>
      <Refused error={error} />
      {data?.view.sections.map((section) => (
        <section key={`${section.kind}:${section.title}`} class="app-section">
          <h2>{section.title}</h2>
          <Section section={section} />
        </section>
      ))}
    </>
  );
}

interface DoActionProps {
  app: string;
  action: AppAction;
  onDone(): void;
}

function DoAction({ app, action, onDone }: DoActionProps): JSX.Element {
  const { name, title, confirm, fields = [] } = action;
  return (
    <Action
      title={title}
      text={confirm ?? `${title}?`}
      verb="Do it"
      fields={fields}
      run={async (values) => {
        const address = at(["apps", app, "actions", name]);
        const { message } = await call<{ message: unknown }>("POST", address, { body: { values } });
        return String(message);
      }}
      onDone={onDone}
    />
  );
}

function Section({ section }: { section: AppSection }): JSX.Element {
  switch (section.kind) {
    case "facts":
      return (
        <dl class="facts">
          {section.facts.map(({ label, value, tone }) => (
            <Fact key={label} label={label} tone={tone}>
              <Value value={value} />
            </Fact>
          ))}
        </dl>
      );
    case "table":
      return <Table section={section} />;
    case "chart":
      return <AppChart section={section} />;
  }
}

const numberClass = (cell: unknown): string => (typeof cell === "number" ? "number" : "");

function Value({ value }: { value: AppValue }): JSX.Element {
  const now = useNow();
  if (typeof value === "object") {
    return (
      <time dateTime={new Date(value.at).toISOString()} title={fullTime(value.at)}>
        {timeOfDay(value.at, now)}
      </time>
    );
  }
  return <>{Number.isInteger(value) ? count(Number(value)) : visible(String(value))}</>;
}

function Table({ section }: { section: AppSection & { kind: "table" } }): JSX.Element {
  const { title, columns, rows } = section;
  if (rows.length === 0) return <Empty>Nothing yet.</Empty>;
  return (
    <Frame label={title}>
      <table class="cards app">
        <thead>
          <tr>
            {columns.map((column, i) => (
              // By their places: two columns may have one name.
              <th key={i} scope="col" class={numberClass(rows[0]?.[i])}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            // Two rows may begin alike.
            <tr key={i}>
              {row.map((cell, column) =>
                column === 0 ? (
                  <th key={0} scope="row">
                    <Value value={cell} />
                  </th>
                ) : (
                  <td key={column} class={cellClass(cell)} data-label={columns[column]}>
                    <Value value={cell} />
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </Frame>
  );
}

function cellClass(cell: AppValue): string {
  return typeof cell === "string" && cell.length > NARROW_CHARS ? "wide" : numberClass(cell);
}

const TONES: readonly ChartSeries["tone"][] = ["one", "two", "bad"];

function AppChart({ section }: { section: AppSection & { kind: "chart" } }): JSX.Element {
  const { title, unit = "", series } = section;
  const { times, lines } = alignSeries(series.map(({ points }) => points));
  return (
    <Chart
      title={unit === "" ? title : `${title}, ${unit}`}
      times={times}
      show={(value) => String(Math.round(value * 100) / 100)}
      series={series.map(({ label }, i) => ({
        label,
        points: lines[i] ?? [],
        tone: TONES[i % TONES.length] ?? "one",
      }))}
    />
  );
}
