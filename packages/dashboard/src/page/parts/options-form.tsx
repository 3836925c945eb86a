/** A whole table of options in a dialog: what is wrong is shown at its field. */
import type { Parts } from "@sluice/protocol";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { changesOf, draftOf, type FieldErrors, readDraft } from "../words/option-form.ts";
import { errorsOf, OptionFields } from "./option-fields.tsx";

type Values = Readonly<Record<string, unknown>>;

export interface OptionForm {
  /** What the form says; throws, and shows the errors at their fields, when it is not valid. */
  read(): Record<string, unknown>;
  /** Sends what differs from what the form showed first; a refusal appears at its field. */
  send(call: (options: Record<string, unknown>) => Promise<unknown>): Promise<void>;
  /** Makes a call; a refusal appears at its field. */
  attempt(call: () => Promise<unknown>): Promise<void>;
}

interface OptionsFormProps {
  rows: Parts;
  settings: Values;
  /** What the server puts before the names of fields: `queue.` */
  prefix: string;
  /** Options that are not changed here. */
  without?: readonly string[];
  form: { current: OptionForm | null };
}

export function OptionsForm(props: OptionsFormProps): JSX.Element {
  const { settings, prefix, form, without = [] } = props;
  const rows = Object.fromEntries(
    Object.entries(props.rows).filter(([name]) => !without.includes(name)),
  );
  const [first] = useState(() => draftOf(rows, settings));
  const [draft, setDraft] = useState(first);
  const [errors, setErrors] = useState<FieldErrors>({});
  const read = (): Record<string, unknown> => {
    const said = readDraft(rows, draft);
    setErrors(said.errors);
    if (Object.keys(said.errors).length > 0) throw new Error("some values need attention");
    return said.value;
  };
  const attempt = async (call: () => Promise<unknown>): Promise<void> => {
    await call().catch((error) => {
      setErrors(errorsOf(error, prefix));
      throw error;
    });
  };
  const send: OptionForm["send"] = async (call) => {
    const changes = changesOf(readDraft(rows, first).value, read());
    return attempt(() => call(changes));
  };
  form.current = { read, attempt, send };
  return <OptionFields rows={rows} draft={draft} errors={errors} onChange={setDraft} />;
}
