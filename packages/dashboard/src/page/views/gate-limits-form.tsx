/** The limits of a gate as a form, in the dialog that sets them. */
import { GATE_OPTIONS, type GateInfo, type GateSettings } from "@sluice/protocol";
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { at, call } from "../data/api.ts";
import { Action } from "../parts/action.tsx";
import { errorsOf, OptionFields } from "../parts/option-fields.tsx";
import { gateLimits } from "../words/gate-limits.ts";
import { draftOf, type FieldErrors, readDraft } from "../words/option-form.ts";

interface Limits {
  /** What the form says; throws, and shows the errors at their fields, when it cannot be. */
  read(): GateSettings;
  refuse(errors: FieldErrors): void;
}

export function LimitAction(props: { gate: GateInfo | undefined; onDone(): void }): JSX.Element {
  const { gate, onDone } = props;
  const form = useRef<Limits | null>(null);
  const name = { name: "key", label: "Gate, or a pattern such as indexer:*" };
  return (
    <Action
      title={gate === undefined ? "Set a gate" : `Change the limits of ${gate.key}`}
      label={gate === undefined ? "Set a gate" : "Limits"}
      text="What waits behind it is looked at again at once."
      verb="Set"
      isSmall={gate !== undefined}
      fields={gate === undefined ? [name] : []}
      body={<LimitFields config={gate?.config} form={form} />}
      run={async (values) => {
        const key = gate?.key ?? values.key ?? "";
        if (key === "") throw new Error("the gate needs a key");
        const limits = form.current!.read();
        try {
          await call("PUT", at(["gates", key]), { body: limits });
        } catch (error) {
          form.current?.refuse(errorsOf(error, "gate."));
          throw error;
        }
        return `The limits of ${key} are ${gateLimits(limits).join(", ")}.`;
      }}
      onDone={onDone}
    />
  );
}

interface LimitFieldsProps {
  config: GateSettings | undefined;
  form: { current: Limits | null };
}

function LimitFields({ config = {}, form }: LimitFieldsProps): JSX.Element {
  const [draft, setDraft] = useState(() => draftOf(GATE_OPTIONS, { ...config }));
  const [errors, setErrors] = useState<FieldErrors>({});
  form.current = {
    read: () => {
      const { value, errors: wrong } = readDraft(GATE_OPTIONS, draft);
      setErrors(wrong);
      if (Object.keys(wrong).length > 0) throw new Error("some values need attention");
      return value;
    },
    refuse: setErrors,
  };
  return <OptionFields rows={GATE_OPTIONS} draft={draft} errors={errors} onChange={setDraft} />;
}
