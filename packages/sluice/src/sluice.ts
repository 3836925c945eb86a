import { openBroker, SystemClock } from "@sluice/broker";
import { Sluice as Client } from "@sluice/client";
import type { Log } from "@sluice/log";
import type { Broker } from "@sluice/protocol";
import { checkOptions, type OpenOptions, openLog } from "./open.ts";
import { RecoveryBar } from "./recovery-bar.ts";

/** A durable job queue in this process. */
export class Sluice extends Client {
  /** Opens a directory, or a queue in memory; what the log holds is there when it resolves. */
  static async open(options: OpenOptions = {}): Promise<Sluice> {
    checkOptions(options);
    const clock = options.clock ?? new SystemClock();
    const log = await openLog(options);
    const port = await recover(log, { ...options, clock });
    return new Sluice({ port, clock, failed: log.failed });
  }
}

async function recover(log: Log, options: OpenOptions): Promise<Broker> {
  const { dir: _dir, durability: _durability, ...limits } = options;
  const bar = new RecoveryBar(process.stderr);
  try {
    return await openBroker({ ...said(limits), log, onProgress: (progress) => bar.show(progress) });
  } catch (error) {
    // Whoever could not open it must not keep others from trying.
    await log.close().catch(() => {});
    throw error;
  } finally {
    bar.clear();
  }
}

/** What is undefined is not said, and takes the broker's default. */
function said<T extends object>(options: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: NonNullable<T[K]> };
}
