// What happens during a fault, each line with its time: when which node sees which owners, what the
// nodes say on standard error, and which partition was silent for how long.

import type { ClusterStatus } from "@sluice/protocol";
import { wait } from "../cluster-load.ts";
import type { NodeProcess } from "../node-process.ts";

const LOOK_MS = 50;
const ANSWER_MS = 500;

export class Timeline {
  #since = performance.now();
  #lines: string[] = [];
  #isOver = false;

  constructor(nodes: readonly NodeProcess[]) {
    for (const node of nodes) {
      void this.#follow(node);
      void this.#hear(node);
    }
  }

  // A new one begins.
  mark(): void {
    this.#since = performance.now();
    this.#lines = [];
  }

  say(text: string): void {
    const seconds = ((performance.now() - this.#since) / 1000).toFixed(2);
    this.#lines.push(`${seconds.padStart(6)} ${text}`);
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  stop(): void {
    this.#isOver = true;
  }

  async #hear(node: NodeProcess): Promise<void> {
    for (let heard = node.said.length; !this.#isOver; await wait(LOOK_MS)) {
      const { said } = node;
      const lines = said.slice(heard).split("\n");
      heard = said.length;
      for (const line of lines) if (line !== "") this.say(`${node.name}: ${line}`);
    }
  }

  async #follow(node: NodeProcess): Promise<void> {
    for (let before = ""; !this.#isOver; await wait(LOOK_MS)) {
      const asked = node.get<ClusterStatus>("/v1/cluster").then(shapeOf, () => "no answer");
      const seen = await Promise.race([asked, wait(ANSWER_MS).then(() => "no answer")]);
      if (seen !== before) this.say(`${node.name} sees ${seen}`);
      before = seen;
    }
  }
}

// The owner of each partition, and the nodes: "-" is dead.
function shapeOf({ partitions, nodes, isHearing }: ClusterStatus): string {
  const owners = partitions.map(({ owner = "none", state }) =>
    state === "serving" ? owner : `${owner}(${state})`,
  );
  const living = nodes.map(({ id, isAlive }) => (isAlive ? id : `-${id}`));
  return `${owners.join(" ")}; ${living.join(" ")}${isHearing === false ? "; deaf" : ""}`;
}
