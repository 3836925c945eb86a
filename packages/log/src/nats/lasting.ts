import { JetStreamApiCodes, JetStreamApiError } from "@nats-io/jetstream";
import { errors } from "@nats-io/transport-node";
import { type ErrorCode, SluiceError } from "@sluice/protocol";

/** Answers of JetStream that stay the same until a setting is changed. */
const LASTING_CODES: ReadonlySet<number> = new Set([
  JetStreamApiCodes.JetStreamNotEnabledForAccount,
  // JetStream is not enabled.
  10_076,
  // More than one copy, and a single server.
  10_074,
  // As many streams as the account may have.
  10_026,
  10_027,
  // A stream of this name has other settings.
  10_058,
]);

/** An error of the client, which does not export its class. */
const NOT_ENABLED = "JetStreamNotEnabled";

/** OpenSSL's and Node's own names for a certificate, a name or a handshake that is refused. */
const TLS_CODE = /^ERR_(TLS|SSL|OSSL)_|CERT|^UNABLE_TO_|^INVALID_CA|^HOSTNAME_MISMATCH/;

/**
 * What will be the same however long one waits, in words for the operator: a login, a
 * permission, a certificate, servers without JetStream. Undefined for all that may pass.
 */
export function lastingFault(error: unknown, place = "NATS"): SluiceError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const fault = cause instanceof SluiceError ? undefined : faultOf(cause, place);
    if (fault === undefined) continue;
    const [code, message] = fault;
    return new SluiceError(code, message, { reason: cause.message }, { cause: error });
  }
  return undefined;
}

function faultOf(error: Error, place: string): [ErrorCode, string] | undefined {
  const { message } = error;
  if (
    error instanceof errors.AuthorizationError ||
    error instanceof errors.UserAuthenticationExpiredError
  ) {
    return ["UNAUTHORIZED", `${place} refuses the login: ${message}`];
  }
  if (error instanceof errors.PermissionViolationError) {
    return ["FORBIDDEN", `${place} does not permit this login all that it needs: ${message}`];
  }
  if (error.name === NOT_ENABLED) {
    return ["LOG_FAILED", `${place} has no JetStream, for this login at least: ${message}`];
  }
  if (error instanceof JetStreamApiError && LASTING_CODES.has(error.code)) {
    return ["LOG_FAILED", `JetStream at ${place} refuses it: ${message}`];
  }
  const { code = "" } = error as NodeJS.ErrnoException;
  const isTls = (typeof code === "string" && TLS_CODE.test(code)) || /support 'tls'/.test(message);
  return isTls ? ["LOG_FAILED", `no TLS with ${place}: ${message}`] : undefined;
}
