import { JOB_STATES } from "@sluice/protocol";
import type { JSX } from "preact";
import { useId } from "preact/hooks";
import { Choice } from "../../parts/bits.tsx";
import { FILTER_FIELDS, RANGES } from "../../words/job-filter.ts";
import { link, type RouteQuery } from "../../words/route.ts";

interface FiltersProps {
  query: RouteQuery;
  onChange(query: RouteQuery): void;
}

/** Those that are looked for most; the others are behind a word. */
const FIRST = 4;

export function Filters({ query, onChange }: FiltersProps): JSX.Element {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const said = Object.fromEntries(
      FILTER_FIELDS.map(([name]) => [name, String(form.get(name) ?? "").trim()]),
    );
    onChange({ ...query, ...said });
  };
  const rest = FILTER_FIELDS.slice(FIRST);
  const hasRest = rest.some(([name]) => query[name]);
  return (
    // What was typed is the address: another address is another form.
    <form class="filters" key={JSON.stringify(query)} onSubmit={submit}>
      <div class="tools">
        <StateFilter query={query} onChange={onChange} />
        <Choice
          label="Added"
          value={query.range ?? ""}
          options={RANGES}
          onChoose={(range) => onChange({ ...query, range })}
        />
      </div>
      <div class="filter-fields">
        {FILTER_FIELDS.slice(0, FIRST).map(([name, label, hint]) => (
          <FilterField key={name} name={name} label={label} hint={hint} value={query[name]} />
        ))}
      </div>
      <details class="more" open={hasRest}>
        <summary>More filters</summary>
        <div class="filter-fields">
          {rest.map(([name, label, hint]) => (
            <FilterField key={name} name={name} label={label} hint={hint} value={query[name]} />
          ))}
        </div>
      </details>
      <div class="actions">
        <button type="submit" class="primary">
          Find
        </button>
        <a href={link("jobs")}>Clear</a>
        {query.failure !== undefined && <span class="muted">of one group of failures</span>}
      </div>
    </form>
  );
}

function StateFilter({ query, onChange }: FiltersProps): JSX.Element {
  const current = query.state ?? "";
  return (
    <fieldset class="states">
      <legend class="unseen">State</legend>
      {["", ...JOB_STATES].map((state) => (
        <label key={state}>
          <input
            type="radio"
            name="state"
            checked={state === current}
            onChange={() => onChange({ ...query, state })}
          />
          <span>{state === "" ? "any" : state}</span>
        </label>
      ))}
    </fieldset>
  );
}

interface FilterFieldProps {
  name: string;
  label: string;
  hint: string;
  value: string | undefined;
}

function FilterField({ name, label, hint, value = "" }: FilterFieldProps): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label htmlFor={id}>{label}</label>
      <input id={id} name={name} defaultValue={value} placeholder={hint} autocomplete="off" />
    </div>
  );
}
