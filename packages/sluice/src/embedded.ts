/** A broker in this process, on the log that the options name. */
import { openBroker } from "@sluice/broker";
import { type Log, openLog } from "@sluice/log";
import type { Broker, OpenOptions, SluiceError } from "@sluice/protocol";
import { RecoveryBar } from "./recovery-bar.ts";

export interface Embedded {
  readonly port: Broker;
  /** Resolves when the broker can confirm nothing more. */
  readonly failed: Promise<SluiceError>;
}

export async function openEmbedded(options: OpenOptions): Promise<Embedded> {
  const log = await openLog(options, { onWarning: (text) => process.emitWarning(text) });
  // Not only a write may fail: what is read back may be damaged, and then the broker stops too.
  const { promise: failed, resolve: onFailure } = Promise.withResolvers<SluiceError>();
  return { port: await recover(log, options, onFailure), failed };
}

async function recover(
  log: Log,
  options: OpenOptions,
  onFailure: (error: SluiceError) => void,
): Promise<Broker> {
  const { dir: _dir, log: _log, durability: _durability, ...rest } = options;
  const bar = new RecoveryBar(process.stderr);
  try {
    const onProgress = bar.show.bind(bar);
    return await openBroker({ ...defined(rest), log, onProgress, onFailure });
  } catch (error) {
    // A failed opening must not leave the log locked.
    await log.close().catch(() => {});
    throw error;
  } finally {
    bar.clear();
  }
}

/** Without the options that are undefined: the broker's defaults apply to them. */
function defined<T extends object>(options: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: NonNullable<T[K]> };
}
