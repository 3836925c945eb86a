import { SCHEDULE_OPTIONS, type ScheduleInfo } from "@sluice/protocol";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { at, call } from "../../data/api.ts";
import { Action } from "../../parts/action.tsx";
import { type OptionForm, OptionsForm } from "../../parts/options-form.tsx";
import { count } from "../../words/format.ts";
import { parseJson } from "../../words/new-job.ts";
import { link } from "../../words/route.ts";

export interface ScheduleActionProps {
  schedule: ScheduleInfo;
  onDone(): void;
  isSmall?: boolean;
}

const addressOf = ({ queue, name }: ScheduleInfo, ...more: string[]): string =>
  at(["queues", queue, "schedules", name, ...more]);

export function RunSchedule({ schedule, ...rest }: ScheduleActionProps): JSX.Element {
  const { name, queue } = schedule;
  return (
    <Action
      {...rest}
      title={`Run ${name} now`}
      label="Run now"
      text={`Adds a job to ${queue} now, beside the plan. The next runs stay as they are.`}
      verb="Run now"
      needs={["produce", queue]}
      run={async () => {
        const { id } = await call<{ id: string }>("POST", addressOf(schedule, "run"));
        return `Job ${id} of ${name} was added to ${queue}.`;
      }}
    />
  );
}

export function PauseSchedule({ schedule, ...rest }: ScheduleActionProps): JSX.Element {
  const { name, paused, queue } = schedule;
  const verb = paused ? "Resume" : "Pause";
  return (
    <Action
      {...rest}
      title={`${verb} ${name}`}
      label={verb}
      text={
        paused
          ? `${name} adds jobs again, from its next tick on.`
          : `The ticks of ${name} are skipped until it is resumed. Jobs that exist continue.`
      }
      verb={verb}
      needs={["operate", queue]}
      run={async () => {
        await call("POST", addressOf(schedule, verb.toLowerCase()));
        return paused ? `${name} is active again.` : `${name} is paused.`;
      }}
    />
  );
}

export function DeleteSchedule({ schedule, ...rest }: ScheduleActionProps): JSX.Element {
  const { name, queue } = schedule;
  return (
    <Action
      {...rest}
      title={`Delete ${name}`}
      label="Delete"
      isDangerous
      text={`The schedule ends. Jobs that it has added to ${queue} stay.`}
      verb="Delete"
      needs={["admin", queue]}
      run={async () => {
        await call("DELETE", addressOf(schedule));
        location.hash = link("schedules");
        return `Schedule ${name} was deleted.`;
      }}
    />
  );
}

export function BackfillSchedule({ schedule, ...rest }: ScheduleActionProps): JSX.Element {
  const { name, queue } = schedule;
  const hint = "such as 2026-03-01 or 2026-03-01T03:00:00Z";
  return (
    <Action
      {...rest}
      title={`Backfill ${name}`}
      label="Backfill"
      text="Adds a job for each tick of a time in the past, both ends included, 1,000 at most."
      verb="Backfill"
      needs={["admin", queue]}
      fields={[
        { name: "from", label: "From", hint },
        { name: "to", label: "To", hint },
      ]}
      run={async (values) => {
        const { from, to } = values;
        const body = { from, to };
        const { added } = await call<{ added: number }>("POST", addressOf(schedule, "backfill"), {
          body,
        });
        return `${count(added)} ${added === 1 ? "job was" : "jobs were"} added to ${queue}.`;
      }}
    />
  );
}

interface SetScheduleProps {
  /** Absent: a new one. */
  schedule: ScheduleInfo | undefined;
  onDone(): void;
}

/** They are JSON, for which a line of a form is too short. */
const JSON_OPTIONS = ["payload", "options"];

export function SetSchedule({ schedule, onDone }: SetScheduleProps): JSX.Element {
  const form = useRef<OptionForm | null>(null);
  const { config } = schedule ?? {};
  const json = (value: unknown): string =>
    value === undefined ? "" : JSON.stringify(value, null, 2);
  const names = [
    { name: "schedule", label: "Name" },
    { name: "queue", label: "Queue", hint: "the queue to which it adds its jobs" },
  ];
  return (
    <Action
      title={schedule === undefined ? "Create a schedule" : `Change ${schedule.name}`}
      label={schedule === undefined ? "Create a schedule" : "Change"}
      text="Give one of cron, every and at; all else has a default."
      verb={schedule === undefined ? "Create" : "Save"}
      isWide
      needs={["admin", schedule?.queue ?? "*"]}
      fields={[
        ...(schedule === undefined ? names : []),
        {
          name: "payload",
          label: "Payload of each job, as JSON",
          kind: "lines",
          value: json(config?.payload),
        },
        {
          name: "options",
          label: "Options of each job, as JSON",
          kind: "lines",
          value: json(config?.options),
        },
      ]}
      body={
        <OptionsForm
          rows={SCHEDULE_OPTIONS}
          settings={{ ...config }}
          without={JSON_OPTIONS}
          prefix="schedule."
          form={form}
        />
      }
      run={async (values) => {
        const { queue = "", schedule: name = "" } = schedule
          ? { queue: schedule.queue, schedule: schedule.name }
          : values;
        if (name === "" || queue === "") throw new Error("the schedule needs a name and a queue");
        const body: Record<string, unknown> = { ...form.current!.read() };
        for (const option of JSON_OPTIONS) {
          const text = values[option] ?? "";
          if (text.trim() !== "") body[option] = parseJson(option, text);
        }
        await form.current!.attempt(() =>
          call("PUT", at(["queues", queue, "schedules", name]), { body }),
        );
        return schedule === undefined ? `${name} was created.` : `${name} was changed.`;
      }}
      onDone={onDone}
    />
  );
}
