/** Whatever changes something is confirmed first, and one sees how far it is while it is done. */
import type { Session } from "@sluice/protocol";
import type { ComponentChildren, JSX } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { usePlace } from "../data/context.ts";
import type { Progress, Tell } from "../data/long-work.ts";
import { may, mayAll, type Action as Right } from "../words/may.ts";

export interface ActionField {
  name: string;
  label: string;
  value?: string;
  hint?: string;
  kind?: "text" | "number" | "lines";
  options?: readonly { value: string; label: string }[];
}

export type Values = Readonly<Record<string, string>>;

export interface ActionProps {
  title: string;
  /** On the button that opens it; absent: the title. */
  label?: ComponentChildren;
  /** What it will do, in a sentence. */
  text: ComponentChildren;
  /** On the button that does it. */
  verb: string;
  fields?: readonly ActionField[];
  /** More of the form, which `run` reads by itself. */
  body?: ComponentChildren;
  isDangerous?: boolean;
  /** Why it cannot be done now: told when the button is pressed or pointed at. */
  whyNot?: string | undefined;
  isSmall?: boolean;
  isPrimary?: boolean;
  isWide?: boolean;
  /** The right that it takes, on a queue or on everything (`*`). */
  needs?: readonly [right: Right, on: string];
  /** Answers what was done, in a sentence. */
  run(values: Values, tell: Tell, signal: AbortSignal): Promise<string>;
  onDone?: () => void;
}

/** One who may only look sees the value that a button shows, and no other buttons. */
export function Action(props: ActionProps): JSX.Element | null {
  const { session, say } = usePlace();
  const [isOpen, setOpen] = useState(false);
  const { title, label = title, whyNot } = props;
  if (!isAllowed(session, props.needs)) {
    return typeof label === "string" ? null : <span>{label}</span>;
  }
  return (
    <>
      <button
        type="button"
        class={classOf(props)}
        aria-disabled={whyNot !== undefined}
        title={whyNot}
        onClick={() => (whyNot === undefined ? setOpen(true) : say(whyNot))}
      >
        {label}
      </button>
      {isOpen && <ActionDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function isAllowed(session: Session, needs: ActionProps["needs"]): boolean {
  if (needs === undefined) return !session.isReadOnly;
  const [right, on] = needs;
  return on === "*" ? mayAll(session, right) : may(session, right, on);
}

function classOf({ isDangerous, isSmall, isPrimary }: ActionProps): string {
  const names = [isDangerous && "danger", isSmall && "small", isPrimary && "primary"];
  return names.filter((name) => name).join(" ");
}

export interface DialogProps extends ActionProps {
  onClose(): void;
}

export function ActionDialog(props: DialogProps): JSX.Element {
  const { title, text, verb, fields = [], body, isDangerous } = props;
  const { dialog, work, submit, leave } = useWork(props);
  const id = useId();
  const isBusy = work.state === "busy";
  return (
    <dialog
      ref={dialog}
      class={props.isWide === true ? "wide" : ""}
      aria-labelledby={id}
      onClose={leave}
    >
      <form onSubmit={submit}>
        <h2 id={id}>{title}</h2>
        <p>{text}</p>
        {fields.map((field) => (
          <Field key={field.name} field={field} isDisabled={isBusy} />
        ))}
        {body}
        <WorkState work={work} />
        <div class="buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            {isBusy ? "Stop" : "Cancel"}
          </button>
          <button type="submit" class={isDangerous ? "danger" : "primary"} disabled={isBusy}>
            {verb}
          </button>
        </div>
      </form>
    </dialog>
  );
}

type Work =
  | { state: "asking" }
  | { state: "busy"; progress: Progress | undefined }
  | { state: "refused"; message: string };

function useWork({ run, onDone, onClose, fields = [] }: DialogProps) {
  const { say } = usePlace();
  const dialog = useRef<HTMLDialogElement>(null);
  const [work, setWork] = useState<Work>({ state: "asking" });
  const stop = useRef(new AbortController());
  const isOver = useRef(false);
  useLayoutEffect(() => {
    dialog.current?.showModal();
    return () => stop.current.abort();
  }, []);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const values = Object.fromEntries(fields.map(({ name }) => [name, String(form.get(name))]));
    stop.current = new AbortController();
    const { signal } = stop.current;
    setWork({ state: "busy", progress: undefined });
    try {
      const tell: Tell = (progress) => setWork({ state: "busy", progress });
      say(await run(values, tell, signal));
      isOver.current = true;
      dialog.current?.close();
    } catch (error) {
      if (signal.aborted) return;
      setWork({ state: "refused", message: error instanceof Error ? error.message : "refused" });
    } finally {
      onDone?.();
    }
  };
  /** The server continues what it was asked to do. */
  const leave = (): void => {
    if (work.state === "busy" && !isOver.current)
      say("Stopped. It may have been done all the same.");
    onClose();
  };
  return { dialog, work, submit, leave };
}

function WorkState({ work }: { work: Work }): JSX.Element {
  return (
    <div class="work" aria-live="polite">
      {work.state === "refused" && <p class="refusal">{work.message}</p>}
      {work.state === "busy" && <ProgressBar progress={work.progress} />}
    </div>
  );
}

function ProgressBar({ progress }: { progress: Progress | undefined }): JSX.Element {
  if (progress === undefined) return <progress aria-label="under way" />;
  const { done, total } = progress;
  return (
    <>
      <progress value={done} max={Math.max(1, total)} aria-label="how far it is" />
      <small>
        {done} of {total}
      </small>
    </>
  );
}

export interface FieldProps {
  field: ActionField;
  isDisabled: boolean;
}

export function Field({ field, isDisabled }: FieldProps): JSX.Element {
  const { label, hint } = field;
  const id = useId();
  return (
    <div class="field">
      <label htmlFor={id}>{label}</label>
      <Input field={field} id={id} isDisabled={isDisabled} />
      {hint !== undefined && <small>{hint}</small>}
    </div>
  );
}

function Input({ field, id, isDisabled }: FieldProps & { id: string }): JSX.Element {
  const { name, value = "", kind = "text", options } = field;
  const shared = { id, name, disabled: isDisabled, autocomplete: "off" } as const;
  if (options !== undefined) {
    return (
      <select {...shared}>
        {options.map((option) => (
          <option key={option.value} value={option.value} selected={option.value === value}>
            {option.label}
          </option>
        ))}
      </select>
    );
  }
  if (kind === "lines") {
    return <textarea {...shared} rows={5} spellcheck={false} defaultValue={value} />;
  }
  const inputMode = kind === "number" ? "decimal" : "text";
  return <input {...shared} inputMode={inputMode} defaultValue={value} />;
}
