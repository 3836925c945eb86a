import type { JSX } from "preact";
import {
  BOX_HEIGHT,
  BOX_WIDTH,
  type Box,
  type Drawing,
  type Line,
} from "../../words/flow-layout.ts";
import { count } from "../../words/format.ts";
import { cut } from "../../words/preview.ts";
import { link } from "../../words/route.ts";
import { toneOf } from "../../words/tone.ts";
import { visible } from "../../words/visible.ts";

/** What fits into a box. */
const QUEUE_CHARS = 22;
const ID_CHARS = 14;

export function FlowDrawing(props: { drawing: Drawing; current: string }): JSX.Element {
  const { drawing, current } = props;
  const { boxes, lines, width, height } = drawing;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section class="flow" aria-label="graph of the flow" tabIndex={0}>
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        <title>Jobs of the flow, each to the right of those that it waits for</title>
        <defs>
          <marker
            id="tip"
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="7"
            markerHeight="7"
            orient="auto"
          >
            <path d="M0 0 8 4 0 8Z" />
          </marker>
        </defs>
        {lines.map((line) => (
          <FlowLine key={`${line.from.id} ${line.to.id}`} line={line} />
        ))}
        {boxes.map((box) => (
          <FlowBox key={box.id} box={box} isCurrent={box.id === current} />
        ))}
      </svg>
    </section>
  );
}

const RULES = { fail: "", run: "dashed", wait: "dotted" } as const;

function FlowLine({ line: { from, to, onDependencyFailure } }: { line: Line }): JSX.Element {
  const [x1, y1] = [from.x + BOX_WIDTH, from.y + BOX_HEIGHT / 2];
  const [x2, y2] = [to.x, to.y + BOX_HEIGHT / 2];
  const bend = Math.max(24, (x2 - x1) / 2);
  const path = `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2 - 2} ${y2}`;
  return (
    <path
      class={`wire ${RULES[onDependencyFailure]} ${toneOf(from.state)}`}
      d={path}
      marker-end="url(#tip)"
    />
  );
}

function FlowBox({ box, isCurrent }: { box: Box; isCurrent: boolean }): JSX.Element {
  const { id, queue = "deleted queue", state, x, y, error } = box;
  const many = box.count > 1 ? `${count(box.count)} jobs like ` : "";
  return (
    <a
      href={link("jobs", id)}
      class={`box ${toneOf(state)} ${isCurrent ? "current" : ""}`}
      aria-current={isCurrent ? "true" : undefined}
    >
      <title>
        {visible(`${many}${id} of ${queue}: ${state}${error === undefined ? "" : `, ${error}`}`)}
      </title>
      {box.count > 1 && <rect x={x + 5} y={y + 5} width={BOX_WIDTH} height={BOX_HEIGHT} rx="8" />}
      <rect x={x} y={y} width={BOX_WIDTH} height={BOX_HEIGHT} rx="8" />
      <rect class="mark" x={x} y={y + 8} width="4" height={BOX_HEIGHT - 16} rx="2" />
      <text x={x + 16} y={y + 23} class="name">
        {visible(cut(queue, QUEUE_CHARS))}
      </text>
      <text x={x + 16} y={y + 41} class="muted">
        {box.count > 1 ? `${count(box.count)} jobs` : cut(id, ID_CHARS)}
      </text>
      <text x={x + BOX_WIDTH - 12} y={y + 41} text-anchor="end" class="state">
        {state}
      </text>
    </a>
  );
}
