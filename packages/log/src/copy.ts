/** Batches of one log, copied to another as they are. */
import { SluiceError } from "@sluice/protocol";
import { COPY_BYTES_MAX } from "./limits.ts";
import type { Batch, Log } from "./log.ts";

export interface Copied {
  batches: number;
  factsBytes: number;
}

export interface CopyOptions {
  readonly stop?: AbortSignal | undefined;
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

/**
 * Facts name each other by ids of jobs, queues and operations; their places in a log are learnt
 * again at each replay, so that other positions mean nothing to them.
 */
export async function copyBatches(
  from: { readonly sizeBytes: number; replay(): AsyncIterable<Batch> },
  to: Pick<Log, "append">,
  { stop, onProgress }: CopyOptions = {},
): Promise<Copied> {
  const totalBytes = from.sizeBytes;
  const copied: Copied = { batches: 0, factsBytes: 0 };
  let waiting: Promise<unknown>[] = [];
  let waitingBytes = 0;
  for await (const { facts } of from.replay()) {
    if (stop?.aborted)
      throw new SluiceError("ABORTED", "the copy was stopped and is incomplete; delete it");
    const appended = to.append(facts);
    // Told when all of them are waited for.
    appended.catch(() => {});
    waiting.push(appended);
    waitingBytes += facts.length;
    copied.batches++;
    copied.factsBytes += facts.length;
    onProgress?.(copied.factsBytes, totalBytes);
    if (waitingBytes < COPY_BYTES_MAX) continue;
    await Promise.all(waiting);
    waiting = [];
    waitingBytes = 0;
  }
  await Promise.all(waiting);
  return copied;
}

/** A log that is to be filled must hold nothing. */
export async function checkEmpty(shown: string, log: Log): Promise<void> {
  for await (const _ of log.replay()) {
    throw new SluiceError("CONFLICT", `${shown} is not empty: nothing was copied`);
  }
}
