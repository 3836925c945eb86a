import type { OverviewItem, QueueInfo } from "@sluice/protocol";
import type { JSX } from "preact";
import { at, call } from "../../data/api.ts";
import { purge, redrive } from "../../data/long-work.ts";
import { Action, type Values } from "../../parts/action.tsx";
import { count } from "../../words/format.ts";
import { newJob } from "../../words/new-job.ts";
import { link } from "../../words/route.ts";

export interface QueueActionsProps {
  info: QueueInfo;
  item: OverviewItem | undefined;
  onDone(): void;
}

export function QueueActions({ info, item, onDone }: QueueActionsProps): JSX.Element {
  return (
    <div class="actions">
      <AddAction info={info} onDone={onDone} />
      <PauseAction info={info} onDone={onDone} />
      <RedriveAction info={info} item={item} onDone={onDone} />
      <PurgeAction info={info} onDone={onDone} />
      <DeleteAction info={info} item={item} onDone={onDone} />
    </div>
  );
}

type Props = Pick<QueueActionsProps, "info" | "onDone">;

function AddAction({ info, onDone }: Props): JSX.Element {
  const { name } = info;
  const tiers = info.config.tiers.map((tier) => tier.name).join(", ");
  return (
    <Action
      title="Add a test job"
      needs={["produce", name]}
      text={`A job for ${name}, like any other: a worker will run it.`}
      verb="Add"
      fields={[
        { name: "payload", label: "Payload, as JSON", value: '{"test":true}', kind: "lines" },
        { name: "lane", label: "Lane", hint: 'a path as JSON: ["acme","user"]' },
        { name: "tier", label: "Tier", hint: `${tiers}; empty: the last` },
        { name: "gates", label: "Gates", hint: "with commas between them" },
        { name: "delay", label: "Delay in seconds", kind: "number" },
      ]}
      run={async (values: Values) => {
        const body = newJob(values);
        const { id } = await call<{ id: string }>("POST", at(["queues", name, "jobs"]), { body });
        return `Job ${id} was added to ${name}.`;
      }}
      onDone={onDone}
    />
  );
}

function PauseAction({ info, onDone }: Props): JSX.Element {
  const { name, config } = info;
  const verb = config.paused ? "Resume" : "Pause";
  const text = config.paused
    ? `Jobs of ${name} go out again.`
    : `Jobs of ${name} no longer start. Running jobs continue, and jobs can be added.`;
  return (
    <Action
      title={`${verb} ${name}`}
      label={verb}
      text={text}
      verb={verb}
      needs={["operate", name]}
      run={async () => {
        await call("POST", at(["queues", name, verb.toLowerCase()]));
        return config.paused ? `${name} runs again.` : `${name} is paused.`;
      }}
      onDone={onDone}
    />
  );
}

/** On the queue itself or on its dead letter queue: jobs go back to where they came from. */
function RedriveAction({ info, item, onDone }: QueueActionsProps): JSX.Element {
  const { name, stats } = info;
  const isSource = item?.isDeadLetters === true;
  const from = isSource ? name : (item?.dlq ?? name);
  const total = isSource ? stats.waiting : (item?.deadLetters ?? 0);
  return (
    <Action
      title={`Redrive ${from}`}
      label="Redrive"
      text={`Dead jobs of ${from} go back to the queues they came from, oldest first.`}
      verb="Redrive"
      needs={["operate", from]}
      whyNot={total === 0 ? `There are no dead letters of ${name}.` : undefined}
      run={async (_, tell, signal) => {
        const moved = await redrive(from, total, tell, signal);
        return `Redriven from ${from}: ${count(moved)} ${moved === 1 ? "job" : "jobs"}.`;
      }}
      onDone={onDone}
    />
  );
}

function PurgeAction({ info, onDone }: Props): JSX.Element {
  const { name, stats } = info;
  const total = stats.waiting + stats.delayed;
  return (
    <Action
      title={`Purge ${name}`}
      label="Purge"
      text={`Removes all waiting and delayed jobs (${count(total)}); running jobs are kept.`}
      verb="Purge"
      needs={["operate", name]}
      isDangerous
      run={async (_, tell, signal) => {
        const removed = await purge(name, tell, signal);
        return `Removed from ${name}: about ${count(removed)} ${removed === 1 ? "job" : "jobs"}.`;
      }}
      onDone={onDone}
    />
  );
}

function DeleteAction({ info, item, onDone }: QueueActionsProps): JSX.Element {
  const { name, stats } = info;
  const jobs = stats.waiting + stats.delayed + stats.blocked + stats.running;
  const letters = item?.deadLetters ?? 0;
  const kept = letters === 0 ? "" : ` Its ${count(letters)} dead letters in ${item?.dlq} stay.`;
  return (
    <Action
      title={`Delete ${name}`}
      label="Delete"
      text={`Deletes the queue with all its jobs (${count(jobs)}).${kept} This cannot be undone.`}
      verb="Delete"
      isDangerous
      needs={["admin", name]}
      fields={[{ name: "name", label: `Type ${name} to confirm` }]}
      run={async ({ name: typed }) => {
        if (typed !== name) throw new Error(`type ${name} to delete it`);
        await call("DELETE", at(["queues", name]));
        location.hash = link();
        return `Queue ${name} was deleted.`;
      }}
      onDone={onDone}
    />
  );
}
