/**
 * Who should own what: rendezvous hashing. Every node gives every partition a score, and the best
 * score wins, so that a node that comes or goes moves its own share and little else. No node gets
 * more than its even share: plain rendezvous gives 12 partitions to 3 nodes as 6, 4 and 2.
 */

/** The node for each partition; empty when there is no node. The same for the same set. */
export function place(partitions: number, nodes: readonly string[]): string[] {
  if (nodes.length === 0) return [];
  const share = Math.floor(partitions / nodes.length);
  // So many nodes get one more than the others.
  let extras = partitions % nodes.length;
  const counts = new Map(nodes.map((node) => [node, 0]));
  const scores = nodes.flatMap((node) =>
    Array.from({ length: partitions }, (_, partition) => ({
      node,
      partition,
      score: scoreOf(partition, node),
    })),
  );
  // The best pairs first; ties by name, so that all nodes decide alike.
  scores.sort(
    (a, b) => b.score - a.score || (a.node < b.node ? -1 : 1) || a.partition - b.partition,
  );
  const placed: string[] = [];
  for (const { node, partition } of scores) {
    const count = counts.get(node)!;
    const isExtra = count === share;
    if (placed[partition] !== undefined || count > share || (isExtra && extras === 0)) continue;
    if (isExtra) extras--;
    placed[partition] = node;
    counts.set(node, count + 1);
  }
  return placed;
}

/** The last answer again while the nodes are the same: they are far longer than it takes to ask. */
export class Placement {
  readonly #partitions: number;
  #nodes: readonly string[] = [];
  #placed: readonly string[] = [];

  constructor(partitions: number) {
    this.#partitions = partitions;
  }

  /** Of names in their order. */
  of(nodes: readonly string[]): readonly string[] {
    const known = this.#nodes;
    const isSame = nodes.length === known.length && nodes.every((node, i) => node === known[i]);
    if (isSame) return this.#placed;
    this.#nodes = nodes;
    this.#placed = place(this.#partitions, nodes);
    return this.#placed;
  }
}

/** FNV-1a, then mixed: names that differ in the last letter would score alike without it. */
function scoreOf(partition: number, node: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(`${partition}/${node}`)) {
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
