/** Small parts that several views have. */
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { fullTime } from "../words/format.ts";
import type { Tone } from "../words/tone.ts";

export interface FactProps {
  label: string;
  children: ComponentChildren;
  tone?: "good" | "warn" | "bad" | undefined;
}

export function Fact({ label, children, tone }: FactProps): JSX.Element {
  return (
    <div class={`fact ${tone ?? ""}`}>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

export interface SearchProps {
  label: string;
  value: string;
  onSearch(text: string): void;
}

const TYPING_MS = 250;

/** Searches when the user has stopped typing. */
export function Search({ label, value, onSearch }: SearchProps): JSX.Element {
  const [text, setText] = useState(value);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onSearch(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, value, onSearch]);
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      value={text}
      onInput={({ currentTarget }) => setText(currentTarget.value)}
    />
  );
}

export interface ChoiceProps<T extends string> {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  onChoose(value: T): void;
}

export function Choice<T extends string>(props: ChoiceProps<T>): JSX.Element {
  const { label, value, options, onChoose } = props;
  const id = useId();
  return (
    <span class="choice">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        value={value}
        onChange={({ currentTarget }) => onChoose(currentTarget.value as T)}
      >
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </span>
  );
}

export interface PagerProps {
  /** The cursors of the pages before this one. */
  before: readonly string[];
  next: string | undefined;
  onTurn(before: readonly string[]): void;
}

/** Turns pages of a list that only the server knows. */
export function Pager({ before, next, onTurn }: PagerProps): JSX.Element {
  return (
    <nav class="pager" aria-label="pages">
      <button
        type="button"
        disabled={before.length === 0}
        onClick={() => onTurn(before.slice(0, -1))}
      >
        Previous
      </button>
      <span>page {before.length + 1}</span>
      <button
        type="button"
        disabled={next === undefined}
        onClick={() => next !== undefined && onTurn([...before, next])}
      >
        Next
      </button>
    </nav>
  );
}

export function Refused({ error }: { error: string | undefined }): JSX.Element | null {
  return error === undefined ? null : (
    <p class="refusal" role="alert">
      {error}
    </p>
  );
}

/** A table that scrolls in its own frame where a screen is too narrow for it. */
export function Frame(props: { label: string; children: ComponentChildren }): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section class="frame" aria-label={props.label} tabIndex={0}>
      {props.children}
    </section>
  );
}

export interface HeadProps {
  /** Their titles; one that begins with ">" is of numbers. */
  columns: readonly string[];
  /** What comes before them. */
  children?: ComponentChildren;
}

/** The head of a table. */
export function Head({ columns, children }: HeadProps): JSX.Element {
  return (
    <thead>
      <tr>
        {children}
        {columns.map((title) => (
          <th key={title} scope="col" class={title.startsWith(">") ? "number" : undefined}>
            {title.replace(">", "")}
          </th>
        ))}
      </tr>
    </thead>
  );
}

export interface EmptyProps {
  /** What is not there; a sentence below it may say how to get it. */
  title?: string;
  children?: ComponentChildren;
}

export function Empty({ title, children }: EmptyProps): JSX.Element {
  return (
    <div class="empty">
      {title !== undefined && <h2>{title}</h2>}
      {children}
    </div>
  );
}

export interface PageHeadProps {
  title: ComponentChildren;
  /** A line below the title. */
  note?: ComponentChildren;
  /** Buttons. */
  children?: ComponentChildren;
}

export function PageHead({ title, note, children }: PageHeadProps): JSX.Element {
  return (
    <header class="head">
      <div>
        <h1>{title}</h1>
        {note}
      </div>
      <div class="actions">{children}</div>
    </header>
  );
}

/** A moment, with all of it in its title. */
export function When({ at, children }: { at: number; children: ComponentChildren }): JSX.Element {
  return (
    <time dateTime={new Date(at).toISOString()} title={fullTime(at)}>
      {children}
    </time>
  );
}

/** A state as a word on its colour. */
export function Pill({ tone, children }: { tone: Tone; children: ComponentChildren }): JSX.Element {
  return <span class={`pill ${tone}`}>{children}</span>;
}
