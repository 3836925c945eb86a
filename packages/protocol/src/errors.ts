/**
 * The one catalogue of errors. A code is stable and is what callers match; the message is for
 * people. `status` is what HTTP answers, `isRetryable` whether the same call may succeed later.
 */
const CATALOGUE = {
  INVALID: { status: 400, isRetryable: false },
  UNAUTHORIZED: { status: 401, isRetryable: false },
  FORBIDDEN: { status: 403, isRetryable: false },
  QUEUE_NOT_FOUND: { status: 404, isRetryable: false },
  JOB_NOT_FOUND: { status: 404, isRetryable: false },
  GATE_NOT_FOUND: { status: 404, isRetryable: false },
  GROUP_NOT_FOUND: { status: 404, isRetryable: false },
  SCHEDULE_NOT_FOUND: { status: 404, isRetryable: false },
  /** Nothing is at this address: no such call, key, entry or page. */
  NOT_FOUND: { status: 404, isRetryable: false },
  ALREADY_FINISHED: { status: 409, isRetryable: false },
  LEASE_LOST: { status: 409, isRetryable: false },
  CONFLICT: { status: 409, isRetryable: false },
  /** A run of a job ended because the job waits for a step, without a worker. */
  SUSPENDED: { status: 409, isRetryable: false },
  /** There is as much of something as there may be: remove some, or raise the limit. */
  LIMIT_REACHED: { status: 409, isRetryable: false },
  NOT_A_DLQ: { status: 409, isRetryable: false },
  PAYLOAD_TOO_LARGE: { status: 413, isRetryable: false },
  /** A body in a form that is not read here, such as a compressed one. */
  UNSUPPORTED_MEDIA: { status: 415, isRetryable: false },
  /** Another node owns the partition now, or none does yet: ask again for its owner. */
  MOVED: { status: 421, isRetryable: true },
  WAIT_TOO_LONG: { status: 422, isRetryable: false },
  /** A payload that does not match the queue's schema, when it is added or handed out. */
  SCHEMA: { status: 422, isRetryable: false },
  QUEUE_FULL: { status: 429, isRetryable: true },
  RATE_LIMITED: { status: 429, isRetryable: true },
  /** What the log may use of its storage is nearly full: adds are refused, acks are not. */
  STORAGE_LOW: { status: 507, isRetryable: true },
  /** The call was given up by the caller's signal. */
  ABORTED: { status: 499, isRetryable: false },
  INTERNAL: { status: 500, isRetryable: false },
  /** A write or sync of the log failed: this broker confirms nothing more. */
  LOG_FAILED: { status: 503, isRetryable: false },
  LOG_DAMAGED: { status: 503, isRetryable: false },
  LOG_LOCKED: { status: 503, isRetryable: true },
  LOG_VERSION: { status: 503, isRetryable: false },
  /** Some nodes of the cluster would not understand what the call writes. */
  UPGRADE_NEEDED: { status: 503, isRetryable: false },
  /** The broker still reads its log. */
  RECOVERING: { status: 503, isRetryable: true },
  CLOSED: { status: 503, isRetryable: true },
  /** The call was sent and not answered in time: it may have taken effect. */
  TIMEOUT: { status: 504, isRetryable: true },
  /** There was no connection while the call waited: it was not sent and has no effect. */
  UNAVAILABLE: { status: 503, isRetryable: true },
  /** The other end cannot be reached, or the connection broke. */
  DISCONNECTED: { status: 503, isRetryable: true },
} as const;

export type ErrorCode = keyof typeof CATALOGUE;

export const ERROR_CODES = Object.keys(CATALOGUE) as readonly ErrorCode[];

export interface ErrorDetails {
  /** What was wrong with the input, and what came. */
  field?: string;
  value?: unknown;
  /** When the same call may be made again. */
  retryAfterMs?: number;
  [key: string]: unknown;
}

/** An error as it travels: the same shape over HTTP, in a batch's answer and in an event. */
export interface ErrorJson {
  code: ErrorCode;
  message: string;
  retryAfterMs?: number;
  details?: Record<string, unknown>;
}

export class SluiceError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(
    code: ErrorCode,
    message: string,
    details: ErrorDetails = {},
    options: { cause?: unknown } = {},
  ) {
    super(message, options);
    this.name = "SluiceError";
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return CATALOGUE[this.code].status;
  }

  get isRetryable(): boolean {
    return CATALOGUE[this.code].isRetryable;
  }

  get retryAfterMs(): number | undefined {
    return this.details.retryAfterMs;
  }

  toJSON(): ErrorJson {
    const { retryAfterMs, ...details } = this.details;
    return {
      code: this.code,
      message: this.message,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(Object.keys(details).length === 0 ? {} : { details }),
    };
  }

  static fromJSON({ code, message, retryAfterMs, details }: ErrorJson): SluiceError {
    const known = Object.hasOwn(CATALOGUE, code) ? code : "INTERNAL";
    return new SluiceError(known, message, {
      ...details,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
  }
}

const LOSING: ReadonlySet<ErrorCode> = new Set([
  "LEASE_LOST",
  "ALREADY_FINISHED",
  "JOB_NOT_FOUND",
  "QUEUE_NOT_FOUND",
]);

/** After this answer the lease is over, whatever became of the job. */
export function isLosing({ code }: { code: ErrorCode }): boolean {
  return LOSING.has(code);
}

/** Wraps an unexpected error, once, at the edge. Errors in the catalogue pass unchanged. */
export function toSluiceError(error: unknown): SluiceError {
  if (error instanceof SluiceError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new SluiceError("INTERNAL", message, {}, { cause: error });
}
