/** Why a call to the outside gave no answer. */
export type OutgoingReason =
  | "address" // not http or https, a user in it, a forbidden port, an address that is not public
  | "redirects" // too many, or one without a usable place to go
  | "size" // more bytes than wanted, before or after they were unpacked
  | "time" // no whole answer in time
  | "encoding" // packed in a way that we do not unpack, or damaged
  | "network" // refused, unreachable, no such name, TLS
  | "aborted"; // the caller gave up

/** A call that gave no answer. Its message names no path and no query: keys hide there. */
export class OutgoingError extends Error {
  override readonly name = "OutgoingError";
  readonly reason: OutgoingReason;

  constructor(reason: OutgoingReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
