// What a processor profile and a heap profile of Node say: where the time went, who holds memory.

interface Frame {
  readonly functionName: string;
  readonly url: string;
}

interface CpuNode {
  readonly id: number;
  readonly callFrame: Frame;
  readonly children?: readonly number[];
}

// As Node writes it; times are in microseconds.
export interface CpuProfile {
  readonly nodes: readonly CpuNode[];
  readonly startTime: number;
  readonly endTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface HeapNode {
  readonly callFrame: Frame;
  readonly selfSize: number;
  readonly children: readonly HeapNode[];
}

export interface HeapProfile {
  readonly head: HeapNode;
}

export interface Cost {
  readonly what: string;
  readonly amount: number;
}

// Idle time is not a cost of any function.
const IDLE = "(idle)";

// Microseconds by function, the most first, of the samples between two times before the end.
export function cpuCosts(profile: CpuProfile, fromEnd: number, untilEnd: number): Cost[] {
  const names = namesOf(profile.nodes);
  const micros = new Map<string, number>();
  let at = profile.startTime;
  for (const [index, id] of profile.samples.entries()) {
    const delta = profile.timeDeltas[index] ?? 0;
    at += delta;
    const name = names.get(id) ?? "";
    if (name === IDLE) continue;
    if (at < profile.endTime - fromEnd || at > profile.endTime - untilEnd) continue;
    micros.set(name, (micros.get(name) ?? 0) + delta);
  }
  return sorted(micros);
}

// Bytes that are held at the end, by the function that asked for them, the most first.
export function heapCosts({ head }: HeapProfile): Cost[] {
  const bytes = new Map<string, number>();
  const visit = (node: HeapNode, caller: string): void => {
    const name = nameOf(node.callFrame, caller);
    bytes.set(name, (bytes.get(name) ?? 0) + node.selfSize);
    for (const child of node.children) visit(child, node.callFrame.url === "" ? caller : name);
  };
  visit(head, "");
  return sorted(bytes);
}

function namesOf(nodes: readonly CpuNode[]): Map<number, string> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const names = new Map<number, string>();
  const visit = (node: CpuNode, caller: string): void => {
    const name = nameOf(node.callFrame, caller);
    names.set(node.id, name);
    const next = node.callFrame.url === "" ? caller : name;
    for (const id of node.children ?? []) visit(byId.get(id)!, next);
  };
  if (nodes[0] !== undefined) visit(nodes[0], "");
  return names;
}

// Functions that are not written in JavaScript have no file. Their caller says more.
function nameOf({ functionName, url }: Frame, caller: string): string {
  const name = functionName === "" ? "(anonymous)" : functionName;
  if (url !== "") return `${name} (${fileOf(url)})`;
  return caller === "" || name.startsWith("(") ? name : `${name}, called by ${caller}`;
}

function fileOf(url: string): string {
  if (url.startsWith("node:")) return url;
  return url.split("/").slice(-3).join("/");
}

function sorted(amounts: ReadonlyMap<string, number>): Cost[] {
  const costs = [...amounts].map(([what, amount]) => ({ what, amount }));
  return costs.sort((a, b) => b.amount - a.amount);
}
