import { type HistoryEntry, hasEnded, type JobJson, type Why, whyText } from "@sluice/protocol";
import type { JSX } from "preact";
import { useNow } from "../../data/context.ts";
import { Frame, Head, When } from "../../parts/bits.tsx";
import { duration, exactTime, timeOfDay } from "../../words/format.ts";
import { type Attempt, attemptsOf, timeline } from "../../words/timeline.ts";
import { visible } from "../../words/visible.ts";

export function WhyLine({ why }: { why: Why | undefined }): JSX.Element {
  const now = useNow();
  if (why === undefined) return <p class="standing muted">…</p>;
  return <p class="standing why">{whyNow(why, now)}</p>;
}

/** The server's words as of now, with the time in the reader's zone. */
function whyNow(why: Why, now: number): string {
  const until = "until" in why ? why.until : undefined;
  if (until === undefined) return why.text;
  return `${whyText(why, Math.min(now, until))} (${timeOfDay(until, now)})`;
}

function nowText(why: Why): string {
  return why.state === "waiting" && why.reason === "gated" ? `gated by ${why.gate}` : why.state;
}

interface LifeProps {
  job: JobJson;
  history: readonly HistoryEntry[] | undefined;
  why: Why | undefined;
}

export function Life({ job, history = [], why }: LifeProps): JSX.Element {
  const now = useNow();
  return (
    <section>
      <h2>Life</h2>
      <ol class="timeline">
        {timeline(history, job).map(({ at: when, event, detail, tone }, i) => (
          <li key={`${i}:${event}`} class={tone}>
            <When at={when}>{exactTime(when)}</When>
            <b>{event}</b>
            <span>{visible(detail)}</span>
          </li>
        ))}
        {!hasEnded(job.state) && job.state !== "dead" && why !== undefined && (
          <li class="now">
            <time>now</time>
            <b>{nowText(why)}</b>
            <span>{whyText(why, now)}</span>
          </li>
        )}
      </ol>
    </section>
  );
}

/** Each time that the job ran: how long it took, and how it ended. */
export function Attempts({ history }: { history: readonly HistoryEntry[] | undefined }) {
  const attempts = attemptsOf(history ?? []);
  if (attempts.length === 0) return null;
  return (
    <section>
      <h2>Attempts</h2>
      <Frame label="attempts">
        <table class="cards attempts">
          <Head columns={[">#", "Started", ">Duration", "Outcome"]} />
          <tbody>
            {attempts.map((attempt) => (
              <AttemptRow key={attempt.number} attempt={attempt} />
            ))}
          </tbody>
        </table>
      </Frame>
    </section>
  );
}

function AttemptRow({ attempt }: { attempt: Attempt }): JSX.Element {
  const now = useNow();
  const { number, worker, at, until, outcome, detail, tone } = attempt;
  return (
    <tr>
      <th scope="row" class="number">
        {number}
      </th>
      <td data-label="started">
        <When at={at}>{exactTime(at)}</When>
        {worker !== "" && <small class="muted below">by {visible(worker)}</small>}
      </td>
      <td data-label="duration" class="number">
        {duration((until ?? Math.max(now, at)) - at)}
      </td>
      <td data-label="outcome" class="wide">
        <b class={tone}>{outcome}</b> {visible(detail)}
      </td>
    </tr>
  );
}
