import { join } from "node:path";
import type { Disk, DiskFile } from "./disk.ts";
import { damaged, failed, flawed, newerVersion } from "./errors.ts";
import { FACTS } from "./frame.ts";
import type { Batch } from "./log.ts";
import type { Segment } from "./recover.ts";
import { segmentName } from "./segment.ts";
import { SegmentReader } from "./segment-reader.ts";

/**
 * The batches of the segments, every byte checked. One generator for all of them: with one inside
 * of another a batch of 1 KB took 1.8 µs instead of 1.4.
 */
export async function* replaySegments(
  disk: Disk,
  dir: string,
  segments: readonly Segment[],
  onEnd: () => void,
): AsyncGenerator<Batch, void, undefined> {
  let link: number | undefined;
  let file: DiskFile | undefined;
  try {
    for (const segment of segments) {
      const path = join(dir, segmentName(segment.base));
      file = await disk.open(path, "read");
      const reader = await beginSegment(file, path, segment, link);
      do {
        for (let frame = reader.take(); frame !== undefined; frame = reader.take()) {
          if (frame.kind === FACTS) yield { position: frame.position, facts: frame.body };
        }
      } while (await reader.fill());
      if (reader.flaw !== undefined) throw flawed(path, reader.offset, reader.flaw);
      link = reader.link;
      await file.close();
      file = undefined;
    }
    onEnd();
  } catch (error) {
    throw failed("reading the log", dir, error);
  } finally {
    await file?.close();
  }
}

/** `link` is the checksum of the last frame before the segment, when there is one. */
async function beginSegment(
  file: DiskFile,
  path: string,
  { base, end }: Segment,
  link: number | undefined,
): Promise<SegmentReader> {
  const reader = new SegmentReader(file, base, end - base);
  const header = await reader.header();
  if (header === "version") throw newerVersion(path, 0);
  if (header === "broken" || header.base !== base) throw damaged(path, 0, "the header is broken");
  if (link !== undefined && header.link !== link) {
    throw damaged(path, 0, "the segment does not follow the one before it");
  }
  reader.link = header.link;
  return reader;
}
