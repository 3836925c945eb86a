/** Flows: jobs of any queues that wait for each other, added as a tree or as a graph. */
import {
  type Added,
  type After,
  FLOW_JOBS_MAX,
  type FlowAfter,
  type FlowJob,
  invalid,
  isObject,
  JOB_FIELDS,
  type JobOptions,
  type OnDependencyFailure,
  orderFlow,
  readJob,
  SluiceError,
  underField,
  unknownField,
} from "@sluice/protocol";
import type { Connection } from "./connection.ts";
import { Job } from "./job.ts";
import { type OperationOptions, parseOperation } from "./parse-call.ts";
import { encodePayload } from "./payload.ts";

/** A job that another one of the flow waits for: by its name there, by its id, or a handle. */
export type FlowDependency =
  | string
  | { readonly id: string; readonly onDependencyFailure?: OnDependencyFailure }
  | { readonly job: string; readonly onDependencyFailure?: OnDependencyFailure };

/** A job of a flow: where it goes, its payload and its options. */
export interface FlowItem extends Omit<JobOptions, "after"> {
  queue: string;
  payload?: unknown;
  /** Names of jobs of the same flow, or jobs that exist. */
  after?: readonly FlowDependency[] | undefined;
}

/** A job of a tree: it runs after its children. */
export interface FlowTree extends Omit<FlowItem, "after"> {
  children?: readonly FlowTree[] | undefined;
  /** What the failure of this job does to its parent. Default `fail`. */
  onDependencyFailure?: OnDependencyFailure | undefined;
}

/** Jobs by names that are used in this flow alone. */
export interface FlowGraph<Name extends string = string> {
  jobs: Readonly<Record<Name, FlowItem>>;
}

/** A flow that was added: its jobs by their names, or the job at the top of its tree. */
export interface AddedFlow<Name extends string = string> {
  readonly id: string;
  readonly jobs: Readonly<Record<Name, Job>>;
}

export interface AddedTree {
  readonly id: string;
  readonly root: Job;
  /** All jobs, the root first. */
  readonly jobs: readonly Job[];
}

export function isTree(flow: FlowTree | FlowGraph): flow is FlowTree {
  if (!isObject(flow)) throw invalid("flow", "a tree of jobs, or an object with jobs", flow);
  // What has neither is read as a tree: its fields have the names of BullMQ, or are misspelt.
  return "queue" in flow || !("jobs" in flow);
}

export async function addGraph(
  connection: Connection,
  graph: FlowGraph,
  options: OperationOptions | undefined,
): Promise<AddedFlow> {
  checkKnown("flow", graph, ["jobs"]);
  if (!isObject(graph.jobs)) throw invalid("flow.jobs", "an object of jobs by name", graph.jobs);
  const names = Object.keys(graph.jobs);
  if (names.length === 0) throw invalid("flow.jobs", "an object with at least one job", graph.jobs);
  const places = new Map(names.map((name, i) => [name, i]));
  const jobs = names.map((name) => jobOf(graph.jobs[name]!, `jobs.${name}`, places));
  if (jobs.length <= FLOW_JOBS_MAX) orderFlow(jobs, names);
  const call = parseOperation("flow", options);
  const added = await connection.port.addFlow(jobs[0]!.queue, jobs, call).catch((error) => {
    throw namedAfter(error, jobs, names);
  });
  const handles = added.jobs.map((job, i) => [names[i]!, new Job(connection, job)] as const);
  return { id: added.flow, jobs: Object.fromEntries(handles) };
}

/** A misspelt name of a job looks like the id of one that is not there. */
function namedAfter(error: unknown, jobs: readonly FlowJob[], names: readonly string[]): unknown {
  const { code, details } = error as Partial<SluiceError>;
  const value = details?.value;
  const isMissing = (one: FlowAfter): boolean => "id" in one && one.id === value;
  const at = jobs.findIndex(({ after }) => after?.some(isMissing) === true);
  if (code !== "JOB_NOT_FOUND" || at < 0) return error;
  const known = names.length > NAMES_SHOWN ? [...names.slice(0, NAMES_SHOWN), "..."] : names;
  const message =
    `there is no job ${JSON.stringify(value)}, which jobs.${names[at]}.after names: ` +
    `name a job of the flow (${known.join(", ")}), or give the id of a job that is kept`;
  return new SluiceError(code, message, details, { cause: error });
}

/** Names of a flow that an error lists. */
const NAMES_SHOWN = 10;

export async function addTree(
  connection: Connection,
  tree: FlowTree,
  options: OperationOptions | undefined,
): Promise<AddedTree> {
  const jobs: FlowJob[] = [];
  flatten(tree, jobs);
  const added = await connection.port.addFlow(tree.queue, jobs, parseOperation("flow", options));
  const handles = added.jobs.map((job) => new Job(connection, job));
  return { id: added.flow, root: handles[0]!, jobs: handles };
}

/** Puts a tree into a list, each parent before its children. A tree may be as deep as a flow. */
function flatten(tree: FlowTree, jobs: FlowJob[]): void {
  const unseen: { tree: FlowTree; field: string; parent?: FlowAfter[] }[] = [
    { tree, field: "flow" },
  ];
  for (let next = unseen.pop(); next !== undefined; next = unseen.pop()) {
    const { field, parent } = next;
    if (!isObject(next.tree)) throw invalid(field, "a job with a queue", next.tree);
    checkKnown(field, next.tree, TREE_FIELDS);
    const { children, onDependencyFailure, ...item } = next.tree as FlowTree;
    const job = jobs.push(jobOf(item, field, NO_NAMES)) - 1;
    if (jobs.length > FLOW_JOBS_MAX) {
      const most = `a tree of at most ${FLOW_JOBS_MAX} jobs; open a flow for more`;
      throw invalid("flow", most, `${jobs.length} and more`);
    }
    const rule = onDependencyFailure === undefined ? {} : { onDependencyFailure };
    parent?.push({ job, ...rule });
    if (children === undefined) continue;
    if (!Array.isArray(children)) throw invalid(`${field}.children`, "an array of jobs", children);
    const after: FlowAfter[] = [];
    if (children.length > 0) jobs[job]!.after = after;
    for (let i = children.length - 1; i >= 0; i--) {
      unseen.push({
        tree: children[i] as FlowTree,
        field: `${field}.children.${i}`,
        parent: after,
      });
    }
  }
}

/** A parent waits for its children: `after` would be a second list of the same. */
const TREE_FIELDS = [
  ...(["queue", "payload", "children", "onDependencyFailure"] as const),
  ...JOB_FIELDS.filter((name) => name !== "after"),
];

const ITEM_FIELDS = ["queue", "payload", ...JOB_FIELDS];

function checkKnown(field: string, of: object, known: readonly string[]): void {
  for (const [name, value] of Object.entries(of)) {
    if (known.includes(name) || value === undefined) continue;
    throw unknownField(`${field}.${name}`, known, value);
  }
}

const NO_NAMES: ReadonlyMap<string, number> = new Map();

function jobOf(item: FlowItem, field: string, places: ReadonlyMap<string, number>): FlowJob {
  if (!isObject(item)) throw invalid(field, "a job with a queue", item);
  checkKnown(field, item, ITEM_FIELDS);
  const { queue, payload, after, ...options } = item as FlowItem;
  if (typeof queue !== "string") throw invalid(`${field}.queue`, "the name of a queue", queue);
  const encoded = encodePayload(payload instanceof Uint8Array ? "bytes" : "json", payload ?? null);
  const job: FlowJob = { queue, after: undefined, payload: encoded };
  underField(field, () => readJob(job, options));
  if (after === undefined) return job;
  if (!Array.isArray(after)) throw invalid(`${field}.after`, "an array of jobs", after);
  job.after = (after as readonly FlowDependency[]).map((one) => afterOf(one, field, places));
  return job;
}

function afterOf(
  one: FlowDependency,
  field: string,
  places: ReadonlyMap<string, number>,
): FlowAfter {
  const named: Partial<After> & { job?: string } =
    typeof one === "string" ? (places.has(one) ? { job: one } : { id: one }) : one;
  const { job, id, onDependencyFailure } = named;
  const rule = onDependencyFailure === undefined ? {} : { onDependencyFailure };
  if (job === undefined) {
    if (typeof id !== "string") throw invalid(`${field}.after`, "names or jobs", one);
    return { id, ...rule };
  }
  const place = places.get(job);
  if (place === undefined) throw unknownField(`${field}.after.${job}`, [...places.keys()], job);
  return { job: place, ...rule };
}

/** A flow that is filled by several calls: its jobs run when it is sealed. */
export class OpenFlow {
  readonly id: string;
  readonly #connection: Connection;
  readonly #queue: string;

  /** Users call `sluice.openFlow`. @internal */
  constructor(connection: Connection, queue: string, id: string) {
    this.#connection = connection;
    this.#queue = queue;
    this.id = id;
  }

  /** Adds up to 10,000 jobs, all or none; they may wait for jobs of earlier calls by their ids. */
  async add(items: readonly FlowItem[], options?: OperationOptions): Promise<Job[]> {
    if (!Array.isArray(items)) throw invalid("flow.add", "an array of jobs", items);
    const jobs = items.map((item, i) => jobOf(item, `jobs.${i}`, NO_NAMES));
    const call = { ...parseOperation("add", options), flow: this.id };
    const { jobs: added } = await this.#connection.port.addFlow(this.#queue, jobs, call);
    return added.map((job: Added) => new Job(this.#connection, job));
  }

  /** No more jobs come: those that wait for no other run from now on. */
  async seal(options?: OperationOptions): Promise<void> {
    await this.#connection.port.sealFlow(this.id, parseOperation("seal", options));
  }

  /** Cancels all of its jobs. A flow that is sealed cannot be cancelled as a whole. */
  async cancel(options?: OperationOptions): Promise<void> {
    await this.#connection.port.cancelFlow(this.id, parseOperation("cancel", options));
  }
}

export async function openFlow(
  connection: Connection,
  queue: string,
  options: OperationOptions | undefined,
): Promise<OpenFlow> {
  const { flow } = await connection.port.openFlow(queue, parseOperation("openFlow", options));
  return new OpenFlow(connection, queue, flow);
}
