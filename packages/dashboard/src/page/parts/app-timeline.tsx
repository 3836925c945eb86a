/** What happened and what will, on one line of time for each row. */
import type { AppSection, AppTimeline as TimelineRow } from "@sluice/protocol";
import type { JSX } from "preact";
import { useNow } from "../data/context.ts";
import { timeOfDay } from "../words/format.ts";
import { visible } from "../words/visible.ts";

/** Units of a drawing, whatever its width on the screen. */
const WIDTH = 1_000;
const HEIGHT = 24;

export interface AppTimelineProps {
  section: AppSection & { kind: "timeline" };
}

export function AppTimeline({ section }: AppTimelineProps): JSX.Element {
  const { from, to, rows } = section;
  const now = useNow();
  return (
    <div class="timelines">
      {rows.map((row) => (
        <div key={row.label} class="timeline-row">
          <span class="timeline-label">{visible(row.label)}</span>
          <Line row={row} from={from} to={to} now={now} />
          <span class="timeline-text">{visible(row.text)}</span>
        </div>
      ))}
      <p class="timeline-ends muted">
        <span>{timeOfDay(from, now)}</span>
        <span>now {timeOfDay(now, now)}</span>
        <span>{timeOfDay(to, now)}</span>
      </p>
    </div>
  );
}

interface LineProps {
  row: TimelineRow;
  from: number;
  to: number;
  now: number;
}

function Line({ row, from, to, now }: LineProps): JSX.Element {
  const x = (at: number): number =>
    Math.round(Math.min(1, Math.max(0, (at - from) / Math.max(1, to - from))) * WIDTH);
  const isSeen = (at: number): boolean => at >= from && at <= to;
  const box = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none" };
  return (
    <svg class="timeline-line" {...box} role="img" aria-label={`${row.label}: ${row.text}`}>
      <title>{`${visible(row.label)}: ${visible(row.text)}`}</title>
      <rect class="track" x={0} y={10} width={WIDTH} height={4} />
      {row.spans.map((span, i) => (
        <rect
          key={i}
          class={`span ${span.tone ?? ""}`}
          x={x(span.from)}
          y={4}
          width={Math.max(2, x(span.to) - x(span.from))}
          height={16}
        >
          <title>{visible(span.text)}</title>
        </rect>
      ))}
      {row.marks
        .filter(({ at }) => isSeen(at))
        .map((mark, i) => (
          <rect
            key={i}
            class={`mark ${mark.tone ?? ""}`}
            x={x(mark.at)}
            y={2}
            width={3}
            height={20}
          >
            <title>{`${timeOfDay(mark.at, now)} ${visible(mark.text)}`}</title>
          </rect>
        ))}
      {isSeen(now) && <rect class="now" x={x(now)} y={0} width={2} height={HEIGHT} />}
    </svg>
  );
}
