/** Whether a broker has made an add under an operation id. */
import { toSluiceError } from "./errors.ts";
import type { Broker } from "./port.ts";

/** Asked by an add of no jobs: under an id that is known it is another call. */
export async function isKnownAdd(
  broker: Pick<Broker, "add">,
  queue: string,
  operationId: string,
): Promise<boolean> {
  try {
    await broker.add(queue, [], { operationId });
    return false;
  } catch (error) {
    if (isOtherCall(error)) return toSluiceError(error).details.newest === undefined;
    if (toSluiceError(error).code === "QUEUE_NOT_FOUND") return false;
    throw error;
  }
}

/** Another call was made under its operation id, or its source has sent a higher number. */
export function isOtherCall(error: unknown): boolean {
  const { code, details } = toSluiceError(error);
  return code === "CONFLICT" && details.field === "operationId";
}
