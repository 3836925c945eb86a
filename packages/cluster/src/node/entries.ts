/** What nodes write into the registry, as text; what cannot be read counts as not there. */
import type { Anchor } from "@sluice/log";

/**
 * What a node says of itself: in its heartbeats, for the others; and without figures in
 * `node.<id>`, its claim on the name, which it writes again at every beat to prove that it reaches
 * the registry.
 */
export interface NodeEntry {
  readonly address: string;
  /** Made at every start: a node that comes back is another one under the same name. */
  readonly incarnation: string;
  readonly version: string;
  /** What it understands; absent: 1. */
  readonly level?: number;
  /** Wall time, for people. */
  readonly startedAt: number;
  readonly isDraining: boolean;
  readonly beat: number;
  /** Up to which change this node has read the keys. */
  readonly keysRead: number;
  /** Nodes that this one has called at in vain. */
  readonly unreached: readonly string[];
  /** The NATS server that it is connected to. */
  readonly nats?: string | undefined;
  /** The registry has not taken what it wrote for a while. */
  readonly registryWaits?: boolean | undefined;
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
  /** The NATS server that leads its stream. */
  readonly leader?: string | undefined;
  /** What went wrong with it last, while it is not served. */
  readonly error?: string | undefined;
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
  /** What its log had confirmed when it was handed over. */
  readonly anchor?: Anchor | undefined;
  /** Who had it before, and whether it was handed over or taken. */
  readonly from?: string;
  readonly isHandedOver?: boolean;
  /** Its owner's appends had failed: it does not go back there soon. */
  readonly isGivenUp?: boolean;
  /** Why no node may open it for now: its log is being replaced. */
  readonly held?: string;
  /** Its log was opened once. If it is missing later, that is damage, and no new one is made. */
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
  leader?: string,
  error?: string,
];

const SERVING = "serving";

export function encodeNodeEntry(entry: NodeEntry): string {
  const lives = entry.lives.map(({ partition, lagMs, jobs, openMs, state, leader, error }) => {
    const row = [partition, lagMs, jobs, openMs];
    if (error !== undefined) return [...row, state, leader ?? "", error];
    if (leader !== undefined) return [...row, state, leader];
    return state === SERVING ? row : [...row, state];
  });
  return JSON.stringify({ ...entry, lives });
}

function figuresOf(row: unknown): PartitionFigures[] {
  if (!Array.isArray(row)) return [];
  const figures = row as unknown as FigureRow;
  const [partition, lagMs, jobs, openMs, state = SERVING, leader, error] = figures;
  const told = { ...(leader ? { leader } : {}), ...(error === undefined ? {} : { error }) };
  return [{ partition, lagMs, jobs, openMs, state, ...told }];
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

/** A beat of a node, or its last word: that it has left. */
export interface Beat {
  readonly id: string;
  readonly entry: NodeEntry;
  readonly isGone: boolean;
}

/** What changes with every beat is in front: the rest is read when it is another than before. */
export function encodeBeat(id: string, { beat, ...entry }: NodeEntry, isGone = false): string {
  return `${id} ${beat} ${isGone ? "-" : "+"}${encodeNodeEntry({ ...entry, beat: 0 })}`;
}

/** In a large cluster hundreds come each second, nearly all as the one before. */
export class BeatReader {
  readonly #last = new Map<string, { readonly rest: string; readonly entry: NodeEntry }>();

  read(text: string): Beat | undefined {
    const first = text.indexOf(" ");
    const second = text.indexOf(" ", first + 1);
    const id = text.slice(0, first);
    const beat = Number(text.slice(first + 1, second));
    const isGone = text[second + 1] === "-";
    const rest = text.slice(second + 2);
    const known = this.#last.get(id);
    const entry = known?.rest === rest ? known.entry : parseNodeEntry(rest);
    if (first < 1 || second < 0 || !Number.isSafeInteger(beat) || entry === undefined) return;
    if (isGone) this.#last.delete(id);
    else if (entry !== known?.entry) this.#last.set(id, { rest, entry });
    return { id, entry: { ...entry, beat }, isGone };
  }
}

export function parseOwnerEntry(text: string | undefined): OwnerEntry | undefined {
  const entry = parse<OwnerEntry>(text);
  const isWhole = typeof entry?.node === "string" && Number.isSafeInteger(entry.epoch);
  return isWhole ? { ...entry, anchor: wholeAnchor(entry.anchor) } : undefined;
}

/** `anchor.<p>`: what the owner's log had confirmed a few seconds ago. */
export function parseAnchor(text: string | undefined): Anchor | undefined {
  return wholeAnchor(parse<Anchor>(text));
}

function wholeAnchor(anchor: Anchor | undefined): Anchor | undefined {
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
