/**
 * Where the jobs of a flow are drawn: in layers from left to right, each job in the layer after the
 * last of those that it waits for. Within a layer jobs are near those that they are joined to.
 * Jobs that are alike (same queue, state and neighbours) are drawn as one when there are many.
 */
import type { FlowEdge, FlowGraph, FlowNode } from "@sluice/protocol";

export interface Box extends FlowNode {
  /** How many jobs it represents. */
  count: number;
  layer: number;
  x: number;
  y: number;
}

export interface Line {
  from: Box;
  to: Box;
  onDependencyFailure: FlowEdge["onDependencyFailure"];
}

export interface Drawing {
  boxes: Box[];
  lines: Line[];
  width: number;
  height: number;
}

export const BOX_WIDTH = 184;
export const BOX_HEIGHT = 54;
const GAP_X = 64;
const GAP_Y = 16;
const MARGIN = 14;
/** So many alike are drawn as one. */
const ALIKE_MIN = 6;
const SWEEPS = 4;

export function layoutFlow(graph: FlowGraph): Drawing {
  const { nodes, edges } = folded(graph);
  const layers = layersOf(nodes, edges);
  const boxes = new Map<string, Box>();
  for (const node of nodes) {
    boxes.set(node.id, { ...node, layer: layers.get(node.id) ?? 0, x: 0, y: 0 });
  }
  const rows = rowsOf([...boxes.values()]);
  order(rows, edges);
  const most = Math.max(1, ...rows.map((row) => row.length));
  place(rows, most);
  const lines = edges.map(({ from, to, onDependencyFailure }) => ({
    from: boxes.get(from)!,
    to: boxes.get(to)!,
    onDependencyFailure,
  }));
  const width = 2 * MARGIN + rows.length * (BOX_WIDTH + GAP_X) - GAP_X;
  const height = 2 * MARGIN + most * (BOX_HEIGHT + GAP_Y) - GAP_Y;
  return { boxes: [...boxes.values()], lines, width, height };
}

interface Folded {
  nodes: (FlowNode & { count: number })[];
  edges: FlowEdge[];
}

function folded({ nodes, edges }: FlowGraph): Folded {
  const kinds = Map.groupBy(nodes, kindsOf(edges));
  const shown = new Map<string, string>();
  const kept: Folded["nodes"] = [];
  for (const alike of kinds.values()) {
    const isFolded = alike.length >= ALIKE_MIN;
    for (const node of alike) shown.set(node.id, isFolded ? alike[0]!.id : node.id);
    const ones = isFolded ? alike.slice(0, 1) : alike;
    kept.push(...ones.map((node) => ({ ...node, count: isFolded ? alike.length : 1 })));
  }
  const joined = new Map<string, FlowEdge>();
  for (const edge of edges) {
    const [from, to] = [shown.get(edge.from), shown.get(edge.to)];
    if (from === undefined || to === undefined) continue;
    joined.set(`${from} ${to}`, { ...edge, from, to });
  }
  return { nodes: kept, edges: [...joined.values()] };
}

/** What makes jobs alike. */
function kindsOf(edges: readonly FlowEdge[]): (node: FlowNode) => string {
  const before = Map.groupBy(edges, ({ to }) => to);
  const after = Map.groupBy(edges, ({ from }) => from);
  const texts = (list: readonly FlowEdge[] | undefined, end: "from" | "to"): string[] =>
    (list ?? []).map((edge) => `${edge[end]}:${edge.onDependencyFailure}`).sort();
  return ({ id, queue, state }) =>
    JSON.stringify([queue, state, texts(before.get(id), "from"), texts(after.get(id), "to")]);
}

/** The longest way from a job that waits for none. Flows have no cycles. */
function layersOf(nodes: readonly FlowNode[], edges: readonly FlowEdge[]): Map<string, number> {
  const after = Map.groupBy(edges, ({ from }) => from);
  const open = new Map<string, number>(nodes.map(({ id }) => [id, 0]));
  for (const { to } of edges) open.set(to, (open.get(to) ?? 0) + 1);
  const layers = new Map<string, number>();
  const ready = nodes.filter(({ id }) => open.get(id) === 0).map(({ id }) => id);
  for (const id of ready) layers.set(id, 0);
  for (let id = ready.pop(); id !== undefined; id = ready.pop()) {
    for (const { to } of after.get(id) ?? []) {
      layers.set(to, Math.max(layers.get(to) ?? 0, layers.get(id)! + 1));
      const left = open.get(to)! - 1;
      open.set(to, left);
      if (left === 0) ready.push(to);
    }
  }
  return layers;
}

function rowsOf(boxes: readonly Box[]): Box[][] {
  const rows: Box[][] = [];
  for (const box of boxes) {
    rows[box.layer] ??= [];
    rows[box.layer]!.push(box);
  }
  return rows;
}

/** Sorts each layer by the middle of the neighbours, there and back some times. */
function order(rows: readonly Box[][], edges: readonly FlowEdge[]): void {
  const places = new Map<string, number>();
  const note = (row: readonly Box[]): void => {
    for (const [i, { id }] of row.entries()) places.set(id, i);
  };
  for (const row of rows) note(row);
  const before = Map.groupBy(edges, ({ to }) => to);
  const after = Map.groupBy(edges, ({ from }) => from);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const isForward = sweep % 2 === 0;
    for (const row of isForward ? rows : [...rows].reverse()) {
      const middle = (box: Box): number => {
        const joined = (isForward ? before : after).get(box.id) ?? [];
        const ends = joined.map((edge) => places.get(isForward ? edge.from : edge.to) ?? 0);
        if (ends.length === 0) return places.get(box.id) ?? 0;
        return ends.reduce((sum, at) => sum + at, 0) / ends.length;
      };
      const middles = new Map(row.map((box) => [box.id, middle(box)]));
      row.sort((a, b) => middles.get(a.id)! - middles.get(b.id)!);
      note(row);
    }
  }
}

/** Each layer in the middle of the tallest. */
function place(rows: readonly Box[][], most: number): void {
  for (const [layer, row] of rows.entries()) {
    const top = ((most - row.length) * (BOX_HEIGHT + GAP_Y)) / 2;
    for (const [i, box] of row.entries()) {
      box.x = MARGIN + layer * (BOX_WIDTH + GAP_X);
      box.y = MARGIN + top + i * (BOX_HEIGHT + GAP_Y);
    }
  }
}
