/** An action of an app as a form on the page itself, such as a search. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { usePlace } from "../data/context.ts";
import { type ActionField, Field, type Values } from "./action.tsx";
import { Refused } from "./bits.tsx";

export interface AppFormProps {
  title: string;
  verb: string;
  fields: readonly ActionField[];
  /** Answers what was done, in a sentence. */
  run(values: Values): Promise<string>;
}

export function AppForm({ title, verb, fields, run }: AppFormProps): JSX.Element | null {
  const { say, session } = usePlace();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  if (session.isReadOnly) return null;
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    setBusy(true);
    setError(undefined);
    try {
      say(await run(Object.fromEntries(fields.map(({ name }) => [name, String(form.get(name))]))));
    } catch (reason) {
      setError(reason instanceof Error ? reason.message : "refused");
    } finally {
      setBusy(false);
    }
  };
  return (
    <form class="app-form" aria-label={title} onSubmit={submit}>
      {fields.map((field) => (
        <Field key={field.name} field={field} isDisabled={false} />
      ))}
      <button type="submit" class="primary" disabled={isBusy}>
        {verb}
      </button>
      <Refused error={error} />
    </form>
  );
}
