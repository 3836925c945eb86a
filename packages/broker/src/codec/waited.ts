/** What `WAIT_TOO_LONG` said of a job: the gate, how long it would have been, what was allowed. */
import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";
import type { Told } from "./fact-fields.ts";

type Waited = NonNullable<Told<"ended">["waited"]>;

export function writeWaited(writer: ByteWriter, waited: Waited): void {
  writer.text(waited.gate);
  writer.number(waited.waitMs);
  writer.number(waited.maxWaitMs);
}

export function readWaited(reader: ByteReader): Waited {
  return { gate: reader.name(), waitMs: reader.number(), maxWaitMs: reader.number() };
}
