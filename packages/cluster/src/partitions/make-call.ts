import { type Broker, SluiceError } from "@sluice/protocol";

/**
 * Makes a call at the owner of a partition, and again at the next owner when the partition moves
 * before the answer. A call that must take effect once needs an operation id.
 */
export async function makeCall<P extends Broker, T>(
  partitions: { port(partition: number): P },
  partition: number,
  call: (port: P) => Promise<T>,
): Promise<T> {
  for (;;) {
    const port = partitions.port(partition);
    try {
      return await call(port);
    } catch (error) {
      if (!isMoved(error) || partitions.port(partition) === port) throw error;
    }
  }
}

/** The partition is not served by this process, or not any more. */
export function moved(partition: number, why = "this node does not serve it"): SluiceError {
  return new SluiceError("MOVED", `partition ${partition}: ${why}`, { partition });
}

export function closed(): SluiceError {
  return new SluiceError("CLOSED", "the connection to the cluster is closed");
}

function isMoved(error: unknown): boolean {
  return error instanceof SluiceError && error.code === "MOVED";
}
