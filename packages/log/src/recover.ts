import { join } from "node:path";
import type { SluiceError } from "@sluice/protocol";
import { type Disk, type DiskFile, readAll, writeAll } from "./disk.ts";
import { damaged, flawed, newerVersion } from "./errors.ts";
import { getPosition, type Kind, SEAL, TRIM, viewOf } from "./frame.ts";
import { CHUNK_BYTES } from "./limits.ts";
import type { Position, TornTail } from "./log.ts";
import { findSeal, type Sealed } from "./seal-note.ts";
import { wasSynced } from "./search.ts";
import { baseOf, type SegmentHeader, segmentName } from "./segment.ts";
import { SegmentReader } from "./segment-reader.ts";
import { keepAside } from "./torn-tail.ts";

/**
 * What a start finds, and what it may change.
 *
 * Looking comes first and changes nothing: the newest segment is read to its end, of the others the
 * headers and sizes must fit together (their frames are checked when they are replayed). Then a
 * torn tail is copied aside and cut, what may not have been synced is written and synced again, and
 * segments that were trimmed before a crash are unlinked. Nothing else is ever cut or unlinked.
 */
export interface Recovered {
  /** The oldest first. */
  readonly segments: readonly Segment[];
  readonly tail: Tail;
  /** What was cut off. */
  readonly torn: TornTail | undefined;
}

export interface Segment {
  readonly base: Position;
  readonly end: Position;
}

/** Where the next frame goes. */
export interface Tail {
  /** Base of the segment that is continued; undefined when the next frame begins a new one. */
  readonly base: Position | undefined;
  readonly end: Position;
  /** Checksum of the last frame. */
  readonly link: number;
  /** Base of the oldest segment that must be there. */
  readonly trimmed: Position;
  readonly isSealed: boolean;
}

interface Part {
  readonly base: Position;
  readonly path: string;
  readonly sizeBytes: number;
  readonly header: SegmentHeader | "broken" | "version";
}

interface Scan extends Tail {
  readonly tornBytes: number;
  /** Before this position everything is known to be synced. */
  readonly synced: Position;
}

export async function recover(disk: Disk, dir: string, first: Position): Promise<Recovered> {
  const names = await disk.list(dir);
  const sealed = findSeal(names);
  const parts = await readParts(disk, dir, names);
  const newest = parts.at(-1);
  if (newest === undefined) {
    if (sealed !== undefined) throw missing(dir, sealed.base);
    const tail = { base: undefined, end: first, link: 0, trimmed: first, isSealed: false };
    return { segments: [], tail, torn: undefined };
  }
  const scan = await scanTail(disk, parts);
  const kept = parts.filter(({ base }) => base >= scan.trimmed);
  checkChain(dir, kept, scan);
  if (sealed !== undefined) checkSealed(dir, newest, scan, sealed);
  const torn = await putAside(disk, dir, newest, scan);
  await heal(disk, newest, scan);
  // The leftovers go when it is durable that they were trimmed.
  await disk.syncDir(dir);
  const leftovers = parts.filter(({ base }) => base < scan.trimmed);
  for (const { path } of leftovers) await disk.unlink(path);
  if (leftovers.length > 0) await disk.syncDir(dir);
  const segments = kept
    .filter(({ base }) => base < scan.end)
    .map(({ base, sizeBytes }) => ({ base, end: Math.min(base + sizeBytes, scan.end) }));
  return { segments, tail: scan, torn };
}

async function readParts(disk: Disk, dir: string, names: readonly string[]): Promise<Part[]> {
  const bases = names.map(baseOf).filter((base) => base !== undefined);
  const parts: Part[] = [];
  for (const base of bases.sort((a, b) => a - b)) {
    const path = join(dir, segmentName(base));
    parts.push(
      await withFile(disk, path, async (file) => {
        const sizeBytes = await file.sizeBytes();
        return { base, path, sizeBytes, header: await new SegmentReader(file, base, 0).header() };
      }),
    );
  }
  return parts;
}

/** Reads the newest segment; when it was not begun, the one before it. */
async function scanTail(disk: Disk, parts: readonly Part[]): Promise<Scan> {
  const newest = parts.at(-1)!;
  if (newest.header !== "broken") return withFile(disk, newest.path, (file) => scan(file, newest));
  const { base, path, sizeBytes } = newest;
  const isSynced = await withFile(disk, path, (file) => wasSynced({ file, base, sizeBytes }, 0));
  if (isSynced) throw damaged(path, 0, "the header is broken");
  const last = parts.at(-2);
  const begun = { base: undefined, end: base, synced: base, tornBytes: sizeBytes };
  if (last === undefined) return { ...begun, link: 0, trimmed: base, isSealed: false };
  const before = await withFile(disk, last.path, (file) => scan(file, last));
  if (before.tornBytes > 0 || before.end !== base) {
    throw damaged(last.path, before.end - last.base, "the segment ends too early");
  }
  return { ...before, ...begun };
}

async function scan(file: DiskFile, part: Part): Promise<Scan> {
  const { base, path, sizeBytes } = part;
  const { link, trimmed } = checkHeader(part);
  const reader = new SegmentReader(file, base, sizeBytes);
  reader.link = link;
  let lastKind: Kind | undefined;
  let synced = base;
  let oldest = trimmed;
  do {
    for (let frame = reader.take(); frame !== undefined; frame = reader.take()) {
      lastKind = frame.kind;
      synced = frame.position - frame.unsynced;
      if (frame.kind === TRIM) oldest = Math.max(oldest, getPosition(viewOf(frame.body), 0));
    }
  } while (await reader.fill());
  const { offset, flaw } = reader;
  if (flaw === "version") throw newerVersion(path, offset);
  if (flaw !== undefined && (await wasSynced({ file, base, sizeBytes }, offset))) {
    throw flawed(path, offset, flaw);
  }
  return {
    base,
    end: base + offset,
    link: reader.link,
    trimmed: oldest,
    isSealed: lastKind === SEAL,
    tornBytes: sizeBytes - offset,
    synced,
  };
}

function checkHeader({ path, base, header }: Part): SegmentHeader {
  if (header === "version") throw newerVersion(path, 0);
  if (header === "broken") throw damaged(path, 0, "the header is broken");
  if (header.base !== base) {
    throw damaged(path, 0, `it holds segment ${segmentName(header.base)}`);
  }
  return header;
}

function checkChain(dir: string, kept: readonly Part[], { trimmed, end }: Scan): void {
  if (kept[0]?.base !== trimmed) throw missing(dir, trimmed);
  for (const [index, part] of kept.entries()) {
    const next = kept[index + 1];
    if (part.base < end) checkHeader(part);
    if (next === undefined || part.base + part.sizeBytes === next.base) continue;
    const what = `the segment should end at byte ${next.base - part.base}, or one is missing`;
    throw damaged(part.path, Math.min(part.sizeBytes, next.base - part.base), what);
  }
}

/** All that was there when the log was closed in order had been synced: it cannot end before. */
function checkSealed(dir: string, newest: Part, { end }: Scan, sealed: Sealed): void {
  if (end >= sealed.end) return;
  if (newest.base < sealed.base) throw missing(dir, sealed.base);
  const what = `the log was closed at byte ${sealed.end - newest.base}, but it ends here`;
  throw damaged(newest.path, end - newest.base, what);
}

function missing(dir: string, base: Position): SluiceError {
  return damaged(join(dir, segmentName(base)), 0, "the segment is missing");
}

/** Keeps the bytes that are about to be cut. */
async function putAside(
  disk: Disk,
  dir: string,
  { base, path }: Part,
  { end, tornBytes }: Scan,
): Promise<TornTail | undefined> {
  if (tornBytes === 0) return undefined;
  const tail = { path, offset: end - base, sizeBytes: tornBytes };
  const aside = await keepAside(disk, dir, tail, end);
  return { file: path, offset: tail.offset, sizeBytes: tornBytes, aside };
}

/**
 * Cuts the torn tail and makes the rest durable.
 *
 * The cut is synced before anything else is written: else a frame behind it could come back and
 * follow a new one. What may not be synced is written again and not only synced: after a sync
 * that failed, Linux takes the bytes in its cache for written.
 */
async function heal(disk: Disk, newest: Part, { end, tornBytes, synced }: Scan): Promise<void> {
  const file = await disk.open(newest.path, "write");
  try {
    if (tornBytes > 0) {
      await file.truncate(end - newest.base);
      await file.sync();
    }
    const bytes = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, Math.max(0, end - synced)));
    for (let from = synced; from < end; from += bytes.length) {
      const piece = bytes.subarray(0, Math.min(bytes.length, end - from));
      const count = await readAll(file, piece, from - newest.base);
      await writeAll(file, piece.subarray(0, count), from - newest.base);
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

async function withFile<T>(
  disk: Disk,
  path: string,
  act: (file: DiskFile) => Promise<T>,
): Promise<T> {
  const file = await disk.open(path, "read");
  try {
    return await act(file);
  } finally {
    await file.close();
  }
}
