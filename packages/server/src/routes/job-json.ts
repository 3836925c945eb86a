/** Jobs as HTTP shows them: payloads and results as JSON where they are JSON. */
import type { JobInfo, JobJson, LeasedJob } from "@sluice/protocol";
import { isJson } from "../body/is-json.ts";
import { LISTED_PAYLOAD_BYTES_MAX, LISTED_START_BYTES } from "../limits.ts";
import { type Encoding, fromBytes, startOf } from "../payload.ts";

/** A leased job as the bytes of JSON, with its payload as it is where that is JSON. */
export async function leasedBytes(job: LeasedJob, encoding: Encoding): Promise<Uint8Array[]> {
  const { payload, ...rest } = job;
  const head = JSON.stringify(rest).slice(0, -1);
  if (encoding === "auto" && (await isJson(payload))) {
    return [Buffer.from(`${head},"payload":`), payload, CLOSE];
  }
  const tail = JSON.stringify(fromBytes("payload", payload, "base64")).slice(1);
  return [Buffer.from(`${head},${tail}`)];
}

const CLOSE = Buffer.from("}");

interface Shown {
  encoding?: Encoding | undefined;
  /** Of a longer payload or result only so many bytes are shown. */
  bytesMax?: number | undefined;
  startBytes?: number | undefined;
}

export function jobJson({ payload, result, ...rest }: JobInfo, shown: Shown): JobJson {
  const { encoding, bytesMax = Number.POSITIVE_INFINITY, startBytes = bytesMax } = shown;
  const show = (field: "payload" | "result", bytes: Uint8Array): object =>
    bytes.length > bytesMax ? startOf(field, bytes, startBytes) : fromBytes(field, bytes, encoding);
  const payloadBytes = payload.length;
  const job: JobJson = { ...rest, payloadBytes, ...show("payload", payload) };
  if (result === undefined) return job;
  return { ...job, resultBytes: result.length, ...show("result", result) };
}

/** As a list shows it. */
export function listedJson(job: JobInfo): JobJson {
  return jobJson(job, { bytesMax: LISTED_PAYLOAD_BYTES_MAX, startBytes: LISTED_START_BYTES });
}
