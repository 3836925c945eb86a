import { QUEUE_OPTIONS, type QueueInfo } from "@sluice/protocol";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { at, call } from "../../data/api.ts";
import { usePlace } from "../../data/context.ts";
import { errorsOf, OptionFields } from "../../parts/option-fields.tsx";
import { may } from "../../words/may.ts";
import {
  changesOf,
  type Draft,
  draftOf,
  type FieldErrors,
  readDraft,
} from "../../words/option-form.ts";

interface SettingsProps {
  info: QueueInfo | undefined;
  onSaved(): void;
}

export function Settings({ info, onSaved }: SettingsProps): JSX.Element | null {
  return info === undefined ? null : <SettingsForm key={info.name} info={info} onSaved={onSaved} />;
}

function SettingsForm({ info, onSaved }: SettingsProps & { info: QueueInfo }): JSX.Element {
  const { say, session } = usePlace();
  const shown = draftOf(QUEUE_OPTIONS, { ...info.config });
  // What was not touched follows the server.
  const [touched, setTouched] = useState<Draft | undefined>();
  const [errors, setErrors] = useState<FieldErrors>({});
  const draft = touched ?? shown;
  const save = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const read = readDraft(QUEUE_OPTIONS, draft);
    setErrors(read.errors);
    if (Object.keys(read.errors).length > 0) return;
    const before = readDraft(QUEUE_OPTIONS, shown).value;
    const body = changesOf(before, read.value);
    try {
      await call("PUT", at(["queues", info.name]), { body });
      setTouched(undefined);
      say(`The settings of ${info.name} are saved.`);
      onSaved();
    } catch (error) {
      setErrors(errorsOf(error, "queue."));
    }
  };
  const isAllowed = may(session, "admin", info.name);
  const hasErrors = Object.keys(errors).length > 0;
  return (
    <form class="settings" noValidate onSubmit={save}>
      <fieldset class="plain" disabled={!isAllowed}>
        <legend class="unseen">Settings</legend>
        <OptionFields rows={QUEUE_OPTIONS} draft={draft} errors={errors} onChange={setTouched} />
      </fieldset>
      {isAllowed && (
        <div class="save" aria-live="polite">
          <button type="submit" class="primary" disabled={touched === undefined}>
            Save settings
          </button>
          <button
            type="button"
            disabled={touched === undefined}
            onClick={() => {
              setTouched(undefined);
              setErrors({});
            }}
          >
            Undo
          </button>
          {hasErrors && (
            <p class="refusal">{errors[""] ?? "Not saved: some values need attention."}</p>
          )}
        </div>
      )}
    </form>
  );
}
