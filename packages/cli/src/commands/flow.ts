import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { type Broker, type DependencyInfo, type PageStart, walkPages } from "@sluice/protocol";
import { type Call, type Command, Misuse, tell, wordsOf } from "../command.ts";
import { printable } from "../show.ts";
import { type Connected, connected, TARGET, TARGET_USAGE } from "../target.ts";

const VERBS = ["add", "show", "seal", "cancel"];

/** Lines of a tree: more than a person reads. */
const LINES_MAX = 200;

export const flowCommand: Command = {
  name: "flow",
  verbs: VERBS,
  usage: `sluice flow add FILE     adds a flow from JSON; - reads standard input. A tree is
                         {"queue", "payload", "children": [...]}, a graph is
                         {"jobs": {NAME: {"queue", "payload", "after": [NAME, ...]}}}
sluice flow show ID      a job with all that it waits for, and the jobs that wait for it
sluice flow seal FLOW    lets the jobs of an open flow run
sluice flow cancel FLOW  cancels the jobs of a flow that is not sealed

${TARGET_USAGE}`,
  options: TARGET,
  run: (call) => connected(call, (server) => act(call, server)),
};

async function act(call: Call, server: Connected): Promise<number> {
  const [verb, ...rest] = call.words;
  if (verb === undefined) throw new Misuse(`one of ${VERBS.join(", ")} is needed`);
  if (!VERBS.includes(verb)) throw new Misuse(`"${verb}" is not one of ${VERBS.join(", ")}`);
  if (verb === "add") return add(call, server, wordsOf(rest, "FILE")[0]);
  if (verb === "show") return show(call, server.broker, wordsOf(rest, "ID")[0]);
  const [flow] = wordsOf(rest, "FLOW");
  if (verb === "seal") await server.broker.sealFlow(flow);
  else await server.broker.cancelFlow(flow);
  return tell(call, { flow, [verb]: true }, () => (verb === "seal" ? "sealed" : "cancelled"));
}

async function add(call: Call, { sluice }: Connected, file: string): Promise<number> {
  const json = file === "-" ? await text(call.input) : await read(file);
  const { id: flow, jobs }: { id: string; jobs: object } = await sluice.flow(parse(json) as never);
  const ids = Object.fromEntries(
    Object.entries(jobs).map(([name, { id }]) => [name, id as string]),
  );
  const lines = Object.entries(ids).map(([name, id]) => `${name} ${id}`);
  return tell(call, { flow, jobs: ids }, () => lines.join("\n"));
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new Misuse(`cannot read the flow: ${(error as Error).message}`);
  }
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new Misuse(`the flow is not JSON: ${(error as Error).message}`);
  }
}

interface Node extends Omit<DependencyInfo, "result" | "onDependencyFailure"> {
  after?: readonly Node[];
}

async function show(call: Call, broker: Broker, id: string): Promise<number> {
  const { queue, state, error } = await broker.job(id);
  const seen = new Map<string, Node>();
  const root: Node = { id, queue, state, ...(error === undefined ? {} : { error }) };
  await grow(broker, root, seen);
  const { items } = await broker.dependents(id, { limit: 100 });
  const lines = linesOf(root, "", new Set());
  for (const { id: other, queue: of, state: now } of items) {
    lines.push(`then ${other} ${of} ${now}`);
  }
  return tell(call, { ...root, dependents: items }, () => lines.slice(0, LINES_MAX).join("\n"));
}

/** Reads what a job waits for; one that has ended does not know any more. */
async function grow(broker: Broker, node: Node, seen: Map<string, Node>): Promise<void> {
  seen.set(node.id, node);
  if (seen.size > LINES_MAX || ENDED.has(node.state)) return;
  const after: Node[] = [];
  const ask = (from: PageStart) => broker.dependencies(node.id, { limit: LINES_MAX, ...from });
  for await (const { result: _, onDependencyFailure: __, ...info } of walkPages(ask)) {
    const known = seen.get(info.id);
    const next = known ?? info;
    after.push(next);
    if (after.length >= LINES_MAX) break;
    if (known === undefined) await grow(broker, next, seen);
  }
  if (after.length > 0) node.after = after;
}

const ENDED: ReadonlySet<string> = new Set(["finished", "failed", "cancelled", "expired"]);

function linesOf(node: Node, indent: string, told: Set<string>): string[] {
  const error = node.error === undefined ? "" : `: ${printable(node.error, 100)}`;
  const line = `${indent}${node.id} ${node.queue ?? "-"} ${node.state}${error}`;
  if (told.has(node.id)) return [line];
  told.add(node.id);
  return [line, ...(node.after ?? []).flatMap((next) => linesOf(next, `${indent}  `, told))];
}
