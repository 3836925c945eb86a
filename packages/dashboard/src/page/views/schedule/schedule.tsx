import type { ScheduleInfo } from "@sluice/protocol";
import type { JSX } from "preact";
import { at } from "../../data/api.ts";
import { useNow } from "../../data/context.ts";
import { useLive } from "../../data/live.ts";
import { Fact, Pill, Refused, When } from "../../parts/bits.tsx";
import { Body } from "../../parts/body.tsx";
import { count, duration, fullTime } from "../../words/format.ts";
import { lastOutcome, planText, stateOf } from "../../words/plan.ts";
import { plainBody, pretty } from "../../words/preview.ts";
import { link } from "../../words/route.ts";
import { visible } from "../../words/visible.ts";
import {
  BackfillSchedule,
  DeleteSchedule,
  PauseSchedule,
  RunSchedule,
  SetSchedule,
} from "./actions.tsx";
import { LastOutcome, NextRun } from "./schedules.tsx";

export function ScheduleView(props: { queue: string; schedule: string }): JSX.Element {
  const { queue, schedule: name } = props;
  const address = at(["queues", queue, "schedules", name]);
  const { data: schedule, error, refresh } = useLive<ScheduleInfo>(address);
  return (
    <>
      <p class="crumb">
        <a href={link("schedules")}>Schedules</a>
      </p>
      <header class="head">
        <div>
          <h1>{visible(name)}</h1>
          <p class="standing muted">
            adds jobs to <a href={link("queues", queue)}>{queue}</a>
          </p>
        </div>
        {schedule !== undefined && <ScheduleActions schedule={schedule} onDone={refresh} />}
      </header>
      <Refused error={error} />
      {schedule !== undefined && <ScheduleDetails schedule={schedule} />}
    </>
  );
}

function ScheduleActions(props: { schedule: ScheduleInfo; onDone(): void }): JSX.Element {
  return (
    <div class="actions">
      <RunSchedule {...props} />
      <PauseSchedule {...props} />
      <SetSchedule {...props} />
      <BackfillSchedule {...props} />
      <DeleteSchedule {...props} />
    </div>
  );
}

function ScheduleDetails({ schedule }: { schedule: ScheduleInfo }): JSX.Element {
  const now = useNow();
  const { config, added, running } = schedule;
  const state = stateOf(schedule);
  const error = lastOutcome(schedule)?.error;
  return (
    <>
      <dl class="facts">
        <Fact label="State">
          <Pill tone={state.tone}>{state.text}</Pill>
        </Fact>
        <Fact label="Plan">
          <code>{visible(planText(config, now))}</code>
        </Fact>
        <Fact label="Next run">
          <NextRun schedule={schedule} now={now} />
        </Fact>
        <Fact label="Last outcome">
          <LastOutcome schedule={schedule} now={now} />
        </Fact>
        <Fact label="Jobs added">{count(added)}</Fact>
        <Fact label="Not ended">{count(running)}</Fact>
        <Fact label="Overlap">{config.overlap}</Fact>
        <Fact label="Catch up">{config.catchUp}</Fact>
      </dl>
      <div class="columns">
        <NextRuns schedule={schedule} now={now} />
        <div>
          {error !== undefined && <Body title="Last error" text={plainBody(error)} isBad />}
          <Body title="Payload of each job" text={pretty(config.payload ?? null)} />
          {config.options !== undefined && (
            <Body title="Options of each job" text={pretty(config.options)} />
          )}
        </div>
      </div>
    </>
  );
}

function NextRuns({ schedule, now }: { schedule: ScheduleInfo; now: number }): JSX.Element {
  const { next, paused } = schedule;
  return (
    <section>
      <h2>Next runs</h2>
      {next.length === 0 && <p class="muted">None: the schedule is over.</p>}
      {paused && next.length > 0 && <p class="muted">Skipped while the schedule is paused.</p>}
      <ol class="timeline">
        {next.map((tick) => (
          <li key={tick} class={paused ? "wait" : ""}>
            <When at={tick}>in {duration(Math.max(0, tick - now))}</When>
            <span class="whole">{fullTime(tick)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
