/**
 * Who should own what: rendezvous hashing. Every node gives every partition a score, and the best
 * score wins, so that a node that comes or goes moves its own share and little else. No node gets
 * more than its even share: plain rendezvous gives 12 partitions to 3 nodes as 6, 4 and 2.
 */

/** The node for each partition; empty when there is no node. The same for the same set. */
export function place(partitions: number, nodes: readonly string[]): string[] {
  if (nodes.length === 0) return [];
  const most = Math.ceil(partitions / nodes.length);
  const room = new Map(nodes.map((node) => [node, most]));
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
    if (placed[partition] !== undefined || room.get(node) === 0) continue;
    placed[partition] = node;
    room.set(node, room.get(node)! - 1);
  }
  return placed;
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
