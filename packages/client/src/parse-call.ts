/** How long a caller waits for an answer: the last options of every call. */
import type { OperationOptions as PortOptions } from "@sluice/protocol";
import { type Duration, invalid, knownFields, parseDuration } from "@sluice/protocol";

export interface CallOptions {
  /**
   * Ends the wait with `ABORTED`. A call that was not sent yet never takes effect, nor does an add
   * that waits for room.
   */
  signal?: AbortSignal | undefined;
  /**
   * Ends the wait with `UNAVAILABLE` when the call could not be sent, so that it has no effect, or
   * with `TIMEOUT` when it was. Default: `callTimeout` of `connect`; none for an opened directory.
   */
  timeout?: Duration | undefined;
}

export interface OperationOptions extends CallOptions {
  /**
   * The same call made again under the same id gets the first answer again. A `TIMEOUT` carries the
   * id of its call as `details.operationId`.
   */
  operationId?: string | undefined;
}

const CALL = ["signal", "timeout"];
const OPERATION = [...CALL, "operationId"];

/** Undefined when nothing is given. */
export function parseCall(field: string, options: unknown): PortOptions | undefined {
  return options === undefined ? undefined : parsed(field, options, CALL);
}

export function parseOperation(field: string, options: unknown): PortOptions | undefined {
  return options === undefined ? undefined : parsed(field, options, OPERATION);
}

/** Options of a call that has others too; answers both apart. */
export function parseCallWith<O extends object>(
  field: string,
  options: O,
  known: readonly string[],
): { rest: Omit<O, keyof OperationOptions>; call: PortOptions } {
  const { signal, timeout, operationId, ...rest } = knownFields<O & OperationOptions>(
    field,
    options,
    [...known, ...CALL],
  );
  const call = parsed(field, { signal, timeout, operationId }, OPERATION);
  return { rest: rest as Omit<O, keyof OperationOptions>, call };
}

function parsed(field: string, options: unknown, known: readonly string[]): PortOptions {
  const { signal, timeout, operationId } = knownFields<OperationOptions>(field, options, known);
  if (signal !== undefined && !isSignal(signal)) {
    throw invalid(`${field}.signal`, "an AbortSignal", signal);
  }
  const call: PortOptions = {};
  if (signal !== undefined) call.signal = signal;
  if (operationId !== undefined) call.operationId = operationId;
  if (timeout !== undefined) call.timeout = parseDuration(`${field}.timeout`, timeout);
  return call;
}

function isSignal(value: unknown): boolean {
  return typeof (value as AbortSignal | null)?.addEventListener === "function";
}
