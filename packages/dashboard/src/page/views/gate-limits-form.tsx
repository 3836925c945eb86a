/** The limits of a gate as a form, in the dialog that sets them. */
import { GATE_OPTIONS, type GateInfo } from "@sluice/protocol";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { at, call } from "../data/api.ts";
import { Action } from "../parts/action.tsx";
import { type OptionForm, OptionsForm } from "../parts/options-form.tsx";
import { gateLimits } from "../words/gate-limits.ts";

export function LimitAction(props: { gate: GateInfo | undefined; onDone(): void }): JSX.Element {
  const { gate, onDone } = props;
  const form = useRef<OptionForm | null>(null);
  const name = { name: "key", label: "Gate, or a pattern such as indexer:*" };
  return (
    <Action
      title={gate === undefined ? "Set a gate" : `Change the limits of ${gate.key}`}
      label={gate === undefined ? "Set a gate" : "Limits"}
      text="Jobs that wait for it are considered again at once."
      verb="Set"
      isSmall={gate !== undefined}
      isWide
      needs={["admin", "*"]}
      fields={gate === undefined ? [name] : []}
      body={
        <OptionsForm
          rows={GATE_OPTIONS}
          settings={{ ...gate?.config }}
          prefix="gate."
          form={form}
        />
      }
      run={async (values) => {
        const key = gate?.key ?? values.key ?? "";
        if (key === "") throw new Error("the gate needs a key");
        const limits = form.current!.read();
        await form.current!.attempt(() => call("PUT", at(["gates", key]), { body: limits }));
        return `The limits of ${key} are ${gateLimits(limits).join(", ")}.`;
      }}
      onDone={onDone}
    />
  );
}
