import type { AppAction, AppDone, AppJson, AppRowAction, AppSection } from "@sluice/protocol";
import type { JSX } from "preact";
import { at, call } from "../data/api.ts";
import { useLive } from "../data/live.ts";
import { Action, type Values } from "../parts/action.tsx";
import { AppForm } from "../parts/app-form.tsx";
import { AppTable } from "../parts/app-table.tsx";
import { AppTimeline } from "../parts/app-timeline.tsx";
import { Value } from "../parts/app-value.tsx";
import { Empty, Fact, Refused } from "../parts/bits.tsx";
import { Chart } from "../parts/chart.tsx";
import type { ChartSeries } from "../parts/chart-series.ts";
import { alignSeries } from "../words/align-series.ts";
import { capital } from "../words/format.ts";
import { link } from "../words/route.ts";

interface AppsAnswer {
  items: { name: string; title: string }[];
}

export interface AppsViewProps {
  app: string | undefined;
  /** What an action of the page asked to show. */
  show: string | undefined;
}

export function AppsView({ app, show }: AppsViewProps): JSX.Element {
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
      {shown !== undefined && <AppView key={shown} name={shown} show={show} />}
    </>
  );
}

function AppView({ name, show }: { name: string; show: string | undefined }): JSX.Element {
  const { data, error, refresh } = useLive<AppJson>(at(["apps", name], { show }));
  const actions = data?.view.actions ?? [];
  const page: PageOfApp = { app: name, actions, onDone: refresh };
  return (
    <>
      <header class="head">
        <h1>{data?.title ?? name}</h1>
        <div class="actions">
          {actions
            .filter(({ isInPlace }) => isInPlace !== true)
            .map((action) => (
              <DoAction key={action.name} page={page} action={action} />
            ))}
        </div>
      </header>
      <Refused error={error} />
      {data?.view.sections.map((section) => (
        <section key={`${section.kind}:${section.title}`} class="app-section">
          <h2>{section.title}</h2>
          <Section section={section} page={page} />
        </section>
      ))}
    </>
  );
}

interface PageOfApp {
  app: string;
  actions: readonly AppAction[];
  onDone(): void;
}

/** Does an action; what it asks to show gets an address of its own. */
async function act(app: string, action: string, values: Values): Promise<string> {
  const address = at(["apps", app, "actions", action]);
  const { message, show } = await call<AppDone>("POST", address, { body: { values } });
  if (show !== undefined) location.hash = link("apps", app, show);
  return String(message);
}

interface DoActionProps {
  page: PageOfApp;
  action: AppAction;
  /** In a row: its own label, and what is filled in or sent along. */
  row?: AppRowAction;
}

function DoAction({ page, action, row }: DoActionProps): JSX.Element {
  const { name, title, confirm, fields = [], verb = "Do it" } = action;
  const values = row?.values ?? {};
  return (
    <Action
      title={row === undefined ? title : `${title}: ${values.title ?? ""}`.replace(/: $/, "")}
      {...(row === undefined ? {} : { label: row.label, isSmall: true })}
      text={confirm ?? `${title}?`}
      verb={verb}
      fields={fields.map((field) => ({ ...field, value: values[field.name] ?? field.value ?? "" }))}
      run={(given) => act(page.app, name, { ...values, ...given })}
      onDone={page.onDone}
    />
  );
}

interface SectionProps {
  section: AppSection;
  page: PageOfApp;
}

function Section({ section, page }: SectionProps): JSX.Element | null {
  const actionOf = (name: string) => page.actions.find((one) => one.name === name);
  switch (section.kind) {
    case "facts":
      return (
        <dl class="facts">
          {section.facts.map(({ label, value, tone }) => (
            <Fact key={label} label={capital(label)} tone={tone}>
              <Value value={value} />
            </Fact>
          ))}
        </dl>
      );
    case "table":
      return (
        <AppTable
          section={section}
          button={(row) => {
            const action = actionOf(row.action);
            if (action === undefined) return null;
            return <DoAction key={row.label} page={page} action={action} row={row} />;
          }}
        />
      );
    case "chart":
      return <AppChart section={section} />;
    case "timeline":
      return <AppTimeline section={section} />;
    case "form": {
      const action = actionOf(section.action);
      if (action === undefined) return null;
      const { name, title, fields = [], verb = "Do it" } = action;
      const run = async (values: Values): Promise<string> => {
        const message = await act(page.app, name, values);
        page.onDone();
        return message;
      };
      return <AppForm title={title} verb={verb} fields={fields} run={run} />;
    }
  }
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
