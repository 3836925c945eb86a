import type { FlowGraph } from "@sluice/protocol";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { at } from "../../data/api.ts";
import { useLive } from "../../data/live.ts";
import { Empty, PageHead, Pill, Refused } from "../../parts/bits.tsx";
import { layoutFlow } from "../../words/flow-layout.ts";
import { count } from "../../words/format.ts";
import { link } from "../../words/route.ts";
import { toneOf } from "../../words/tone.ts";
import { FlowDrawing } from "./drawing.tsx";

export function FlowView({ id }: { id: string }): JSX.Element {
  const { data: graph, error } = useLive<FlowGraph>(at(["jobs", id, "flow"]));
  const drawing = useMemo(() => graph && layoutFlow(graph), [graph]);
  return (
    <>
      <p class="crumb">
        <a href={link("jobs", id)}>Job {id}</a>
      </p>
      <PageHead title={`Flow of job ${id}`} note={<Summary graph={graph} />} />
      <Refused error={error} />
      {graph?.isCut === true && (
        <p class="muted">
          Only the {count(graph.nodes.length)} jobs nearest to this one are drawn. Open another job
          to see those around it.
        </p>
      )}
      {graph?.nodes.length === 1 && (
        <Empty title="This job waits for no other">
          <p>
            Jobs of a flow wait for each other: name them in <code>after</code>, or add them
            together with <code>sluice.flow()</code>.
          </p>
        </Empty>
      )}
      {drawing !== undefined && drawing.boxes.length > 1 && (
        <FlowDrawing drawing={drawing} current={id} />
      )}
    </>
  );
}

/** How many jobs are in which state. */
function Summary({ graph }: { graph: FlowGraph | undefined }): JSX.Element {
  const states = Map.groupBy(graph?.nodes ?? [], ({ state }) => state);
  return (
    <p class="states-line">
      {[...states].map(([state, nodes]) => (
        <Pill key={state} tone={toneOf(state)}>
          {count(nodes.length)} {state}
        </Pill>
      ))}
    </p>
  );
}
