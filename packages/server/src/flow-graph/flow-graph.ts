/**
 * The jobs around one job: those that it waits for, those that wait for it, and so on in both
 * directions, nearest first, up to a bound.
 */
import {
  type Broker,
  type DependencyInfo,
  type FlowGraph,
  type FlowNode,
  type Page,
  SluiceError,
} from "@sluice/protocol";

/** Jobs that are looked at together. */
const AT_ONCE = 16;

export async function readFlowGraph(
  broker: Broker,
  id: string,
  jobsMax: number,
): Promise<FlowGraph> {
  const { queue, state, error } = await broker.job(id);
  const walk = new FlowWalk(jobsMax, nodeOf({ id, queue, state, error }));
  for (let near = walk.next(); near.length > 0; near = walk.next()) {
    await Promise.all(near.map((one) => walk.look(broker, one)));
  }
  return walk.graph();
}

type Seen = Pick<DependencyInfo, "id" | "state"> & { queue?: string; error?: string | undefined };

function nodeOf({ id, queue, state, error }: Seen): FlowNode {
  const node: FlowNode = { id, state };
  if (queue !== undefined) node.queue = queue;
  if (error !== undefined) node.error = error;
  return node;
}

class FlowWalk {
  readonly #max: number;
  readonly #nodes = new Map<string, FlowNode>();
  readonly #edges = new Map<string, FlowGraph["edges"][number]>();
  readonly #unseen: string[] = [];
  #isCut = false;

  constructor(max: number, first: FlowNode) {
    this.#max = max;
    this.#enter(first);
  }

  next(): string[] {
    return this.#unseen.splice(0, AT_ONCE);
  }

  async look(broker: Broker, id: string): Promise<void> {
    const limit = this.#max;
    const [before, after] = await Promise.all([
      seen(broker.dependencies(id, { limit })),
      seen(broker.dependents(id, { limit })),
    ]);
    if (before.cursor !== undefined || after.cursor !== undefined) this.#isCut = true;
    for (const one of before.items) this.#join(one, one.id, id);
    for (const one of after.items) this.#join(one, id, one.id);
  }

  #join(info: DependencyInfo, from: string, to: string): void {
    if (!this.#nodes.has(info.id) && !this.#enter(nodeOf(info))) return;
    const { onDependencyFailure } = info;
    this.#edges.set(`${from} ${to}`, { from, to, onDependencyFailure });
  }

  #enter(node: FlowNode): boolean {
    if (this.#nodes.size >= this.#max) {
      this.#isCut = true;
      return false;
    }
    this.#nodes.set(node.id, node);
    this.#unseen.push(node.id);
    return true;
  }

  graph(): FlowGraph {
    return {
      nodes: [...this.#nodes.values()],
      edges: [...this.#edges.values()],
      isCut: this.#isCut,
    };
  }
}

const NOTHING: Page<DependencyInfo> = { items: [] };

/** Behind a job that is no longer kept, or that the caller may not see, there is nothing to see. */
async function seen(page: Promise<Page<DependencyInfo>>): Promise<Page<DependencyInfo>> {
  return page.catch((error) => {
    const isHidden = error instanceof SluiceError && HIDDEN.has(error.code);
    if (isHidden) return NOTHING;
    throw error;
  });
}

const HIDDEN: ReadonlySet<string> = new Set(["JOB_NOT_FOUND", "FORBIDDEN", "QUEUE_NOT_FOUND"]);
