/** Fields for a table of options: label, control, sentence, range, and what is wrong. */
import type { Parts } from "@sluice/protocol";
import type { JSX } from "preact";
import { useId } from "preact/hooks";
import { ApiError } from "../data/api.ts";
import { capital } from "../words/format.ts";
import {
  choicesOf,
  controlOf,
  countOf,
  type Draft,
  type FieldErrors,
  itemOf,
  labelOf,
  rangeOf,
  withItem,
  withoutItem,
} from "../words/option-form.ts";

interface OptionsProps {
  rows: Parts;
  draft: Draft;
  errors: FieldErrors;
  /** The path of the object that has these options, with its dot. */
  at?: string;
  onChange(draft: Draft): void;
}

export function OptionFields(props: OptionsProps): JSX.Element {
  const { rows, at = "" } = props;
  return (
    <div class="options">
      {Object.entries(rows).map(([name, row]) => (
        <Option key={name} {...props} name={name} row={row} path={at + name} />
      ))}
    </div>
  );
}

interface OptionProps extends OptionsProps {
  name: string;
  path: string;
  row: Parts[string];
}

function Option(props: OptionProps): JSX.Element {
  const control = controlOf(props.row.kind);
  if (control === "group") return <Group {...props} />;
  return control === "items" ? <Items {...props} /> : <OptionField {...props} />;
}

function Group({ name, row, path, ...rest }: OptionProps): JSX.Element {
  return (
    <fieldset class="option-group">
      <legend>{labelOf(name)}</legend>
      <Sentence text={row.text} />
      <OptionFields {...rest} rows={row.kind.parts!} at={`${path}.`} />
      <Wrong message={rest.errors[path]} />
    </fieldset>
  );
}

function Items(props: OptionProps): JSX.Element {
  const { name, row, path, draft, errors, onChange } = props;
  const rows = row.kind.parts!;
  const item = itemOf(name);
  return (
    <fieldset class="option-group">
      <legend>{labelOf(name)}</legend>
      <Sentence text={row.text} />
      {Array.from({ length: countOf(draft, path) }, (_, i) => {
        const at = `${path}[${i}]`;
        const remove = (): void => onChange(withoutItem(draft, path, i));
        return (
          <fieldset class="option-item" key={at}>
            <legend>{capital(`${item} ${i + 1}`)}</legend>
            <OptionFields {...props} rows={rows} at={`${at}.`} />
            <Wrong message={errors[at]} />
            <button type="button" class="small" onClick={remove}>
              {`Remove ${item} ${i + 1}`}
            </button>
          </fieldset>
        );
      })}
      <Wrong message={errors[path]} />
      <button type="button" class="small" onClick={() => onChange(withItem(draft, path, rows))}>
        {`Add a ${item}`}
      </button>
    </fieldset>
  );
}

function OptionField({ name, row, path, draft, errors, onChange }: OptionProps): JSX.Element {
  const id = useId();
  const control = controlOf(row.kind);
  const error = errors[path];
  const set = (value: string | boolean): void => onChange({ ...draft, [path]: value });
  const said = draft[path] ?? "";
  const shared = {
    id,
    name: path,
    "aria-describedby": `${id}-hint`,
    "aria-invalid": error !== undefined,
  } as const;
  if (control === "flag") {
    return (
      <div class="field option-flag">
        <label class="choice" htmlFor={id}>
          <input
            {...shared}
            type="checkbox"
            checked={said === true}
            onChange={(event) => set(event.currentTarget.checked)}
          />
          {labelOf(name)}
        </label>
        <Hint id={id} row={row} error={error} />
      </div>
    );
  }
  const typed = {
    ...shared,
    value: String(said),
    onInput: (event: InputEvent) => set((event.currentTarget as HTMLInputElement).value),
  };
  const isLong = control === "lines" || name === "lua";
  return (
    <div class="field">
      <label htmlFor={id}>{labelOf(name)}</label>
      {control === "choice" ? (
        <Choice {...shared} value={String(said)} row={row} onSet={set} />
      ) : isLong ? (
        <textarea {...typed} rows={3} spellcheck={false} />
      ) : (
        <input {...typed} autocomplete="off" />
      )}
      <Hint id={id} row={row} error={error} />
    </div>
  );
}

interface ChoiceProps {
  id: string;
  name: string;
  value: string;
  row: Parts[string];
  onSet(value: string): void;
}

function Choice({ row, onSet, ...shared }: ChoiceProps): JSX.Element {
  const isOptional = row.isRequired !== true && row.default === undefined;
  return (
    <select {...shared} onChange={(event) => onSet(event.currentTarget.value)}>
      {(isOptional || shared.value === "") && <option value="" />}
      {choicesOf(row.kind).map((choice) => (
        <option key={choice}>{choice}</option>
      ))}
    </select>
  );
}

interface HintProps {
  id: string;
  row: Parts[string];
  error: string | undefined;
}

function Hint({ id, row, error }: HintProps): JSX.Element {
  return (
    <div id={`${id}-hint`}>
      <Wrong message={error} />
      <Sentence text={row.text} />
      <small class="range">{rangeOf(row)}</small>
    </div>
  );
}

/** Sentences have names between backticks. */
function Sentence({ text }: { text: string }): JSX.Element {
  const parts = text.split("`");
  return (
    <small>{parts.map((part, i) => (i % 2 === 1 ? <code key={part}>{part}</code> : part))}</small>
  );
}

function Wrong({ message }: { message: string | undefined }): JSX.Element | null {
  return message === undefined ? null : (
    <p class="refusal" role="alert">
      {message}
    </p>
  );
}

/** A refusal at the field that it names. */
export function errorsOf(error: unknown, prefix: string): FieldErrors {
  const { message } = error as Error;
  const field = error instanceof ApiError ? error.field : undefined;
  if (field?.startsWith(prefix) !== true) return { "": message };
  return { [field.slice(prefix.length)]: message.replace(`${field} `, "") };
}
