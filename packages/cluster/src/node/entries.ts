/** What nodes write into the registry, as text; what cannot be read counts as not there. */
import type { Anchor } from "@sluice/log";

/** `node.<id>`: written again at every beat, so that others see that the node lives. */
export interface NodeEntry {
  readonly address: string;
  /** Made at every start: a node that comes back is another one under the same name. */
  readonly incarnation: string;
  readonly version: string;
  /** Wall time, for people. */
  readonly startedAt: number;
  readonly isDraining: boolean;
  readonly beat: number;
  /** Up to which change this node has read the keys. */
  readonly keysRead: number;
  /** Nodes that this one has called at in vain. */
  readonly unreached: readonly string[];
  readonly lives: readonly PartitionFigures[];
}

/** What an owner tells of one of its partitions. */
export interface PartitionFigures {
  readonly partition: number;
  readonly state: string;
  /** How long the oldest write has been waiting for its log. */
  readonly lagMs: number;
  /** Jobs that wait, are delayed or run. */
  readonly jobs: number;
  /** How long the last opening took. */
  readonly openMs: number;
}

/** One start of one node. */
export interface NodeName {
  readonly node: string;
  readonly incarnation: string;
}

/** `owner.<p>`: changed only when the owner changes or is about to. */
export interface OwnerEntry extends NodeName {
  /** An empty `node` means that it is free. */
  readonly address: string;
  /** Grows with every claim. */
  readonly epoch: number;
  /** To whom it is to go. */
  readonly next?: NodeName;
  /** Whether that one has read the log ahead. */
  readonly isNextReady?: boolean;
  /** Who had it before, and whether it was handed over or taken. */
  readonly from?: string;
  readonly isHandedOver?: boolean;
  /** Its log was opened once: one that is gone since is damage, and not made anew. */
  readonly hasLog?: boolean;
}

/**
 * Figures as a row: an entry of all partitions must stay well below what the registry takes, and
 * it is written twice a second. Nearly all are served, so only another state is named.
 */
type FigureRow = readonly [
  partition: number,
  lagMs: number,
  jobs: number,
  openMs: number,
  state?: string,
];

const SERVING = "serving";

export function encodeNodeEntry(entry: NodeEntry): string {
  const lives = entry.lives.map(({ partition, lagMs, jobs, openMs, state }) => {
    const row = [partition, lagMs, jobs, openMs];
    return state === SERVING ? row : [...row, state];
  });
  return JSON.stringify({ ...entry, lives });
}

function figuresOf(row: unknown): PartitionFigures[] {
  if (!Array.isArray(row)) return [];
  const [partition, lagMs, jobs, openMs, state = SERVING] = row as unknown as FigureRow;
  return [{ partition, lagMs, jobs, openMs, state }];
}

export function parseNodeEntry(text: string | undefined): NodeEntry | undefined {
  const entry = parse<NodeEntry>(text);
  const isWhole = typeof entry?.address === "string" && typeof entry.incarnation === "string";
  if (!isWhole) return undefined;
  const { lives, unreached } = entry;
  return {
    ...entry,
    lives: Array.isArray(lives) ? lives.flatMap(figuresOf) : [],
    unreached: Array.isArray(unreached) ? unreached : [],
  };
}

export function parseOwnerEntry(text: string | undefined): OwnerEntry | undefined {
  const entry = parse<OwnerEntry>(text);
  const isWhole = typeof entry?.node === "string" && Number.isSafeInteger(entry.epoch);
  return isWhole ? entry : undefined;
}

/** `anchor.<p>`: what the owner's log had confirmed a few seconds ago. */
export function parseAnchor(text: string | undefined): Anchor | undefined {
  const anchor = parse<Anchor>(text);
  const isWhole = Number.isSafeInteger(anchor?.position) && Number.isSafeInteger(anchor?.chain);
  return isWhole ? anchor : undefined;
}

function parse<T>(text: string | undefined): T | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as T) : undefined;
  } catch {
    return undefined;
  }
}

export function isSame(a: NodeName | undefined, b: NodeName): boolean {
  return a?.node === b.node && a.incarnation === b.incarnation;
}

export const NODE_PREFIX = "node.";
export const OWNER_PREFIX = "owner.";
export const ANCHOR_PREFIX = "anchor.";
