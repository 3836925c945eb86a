import { QUEUE_OPTIONS } from "@sluice/protocol";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { at, call, get } from "../data/api.ts";
import { ActionDialog } from "../parts/action.tsx";
import { type OptionForm, OptionsForm } from "../parts/options-form.tsx";
import { link } from "../words/route.ts";

interface CreateQueueProps {
  onDone(): void;
  onClose(): void;
}

export function CreateQueue({ onDone, onClose }: CreateQueueProps): JSX.Element {
  const form = useRef<OptionForm | null>(null);
  return (
    <ActionDialog
      title="Create a queue"
      text="All options have defaults and can be changed later."
      verb="Create"
      isWide
      fields={[{ name: "name", label: "Name", hint: "letters, digits and . _ : / -" }]}
      body={
        <details class="more">
          <summary>Options</summary>
          <OptionsForm rows={QUEUE_OPTIONS} settings={{}} form={form} prefix="queue." />
        </details>
      }
      run={async ({ name = "" }) => {
        if (name === "") throw new Error("the queue needs a name");
        await refuseKnown(name);
        await form.current!.send((body) => call("PUT", at(["queues", name]), { body }));
        location.hash = link("queues", name);
        return `Queue ${name} was created.`;
      }}
      onDone={onDone}
      onClose={onClose}
    />
  );
}

/** A PUT changes a queue that exists, which is not what this form is for. */
async function refuseKnown(name: string): Promise<void> {
  const isKnown = await get(at(["queues", name])).then(
    () => true,
    () => false,
  );
  if (isKnown) throw new Error(`queue ${name} exists already: change it in its settings`);
}
