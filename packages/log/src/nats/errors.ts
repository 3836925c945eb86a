import { JetStreamApiError } from "@nats-io/jetstream";
import { errors } from "@nats-io/transport-node";
import { SluiceError } from "@sluice/protocol";
import { storeDamaged } from "../messages/damage.ts";
import { lastingFault } from "./lasting.ts";

/** Asked too early: the message under this id is on its way (servers since 2.10). */
const DUPLICATE_IN_PROCESS = 10_158;

/** No place for a new stream: servers that were just started may not know each other yet. */
const NO_SUITABLE_PEERS = 10_005;

const PASSING_CODES: readonly number[] = [DUPLICATE_IN_PROCESS, NO_SUITABLE_PEERS];

/** Nothing is wrong with what was asked: the same may be answered a moment later. */
export function isPassing(error: unknown): boolean {
  if (lastingFault(error) !== undefined) return false;
  if (error instanceof errors.TimeoutError) return true;
  if (error instanceof errors.RequestError) return true;
  if (error instanceof errors.ConnectionError) return true;
  return error instanceof JetStreamApiError && isPassingAnswer(error.apiError());
}

export function isPassingAnswer({ code, err_code }: { code: number; err_code: number }): boolean {
  return code === 503 || code === 408 || PASSING_CODES.includes(err_code);
}

/** Why there was no answer, in words for the operator. */
export function reasonOf(error: unknown): string {
  if (error instanceof errors.TimeoutError) return NO_ANSWER;
  if (error instanceof errors.RequestError && error.isNoResponders()) return NO_LEADER;
  return error instanceof Error ? error.message : String(error);
}

export const NO_ANSWER = "no quorum: the stream's leader does not answer";
export const NO_LEADER = "no quorum: the stream has no leader";
export const NOT_CONNECTED = "not connected to NATS";

export function logFailed(
  stream: string,
  doing: string,
  reason: string,
  cause?: unknown,
): SluiceError {
  const message = `${doing} failed in the stream ${stream}: ${reason}`;
  return new SluiceError("LOG_FAILED", message, { stream, reason }, { cause });
}

/** `server`: the one whose copy was read, where that is known. */
export function streamDamaged(
  stream: string,
  sequence: number,
  what: string,
  server?: string,
): SluiceError {
  const place = server === undefined ? "" : ` (read from the NATS server ${server})`;
  const error = storeDamaged({ kind: "stream", name: stream }, sequence, what + place);
  error.details.what = what;
  if (server !== undefined) error.details.server = server;
  return error;
}

export function toLogError(stream: string, doing: string, error: unknown): SluiceError {
  if (error instanceof SluiceError) return error;
  return logFailed(stream, doing, reasonOf(error), error);
}
