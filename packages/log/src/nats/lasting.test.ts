import assert from "node:assert/strict";
import { test } from "node:test";
import { JetStreamApiError } from "@nats-io/jetstream";
import { errors } from "@nats-io/transport-node";
import { SluiceError } from "@sluice/protocol";
import { lastingFault } from "./lasting.ts";

const answer = (err_code: number, code: number, description: string): JetStreamApiError =>
  new JetStreamApiError({ err_code, code, description });

const jetStreamOff = Object.assign(new Error("off"), { name: "JetStreamNotEnabled" });

const tlsError = (code: string): Error => Object.assign(new Error("refused"), { code });

for (const [what, error, code] of [
  ["a login", new errors.AuthorizationError("Authorization Violation"), "UNAUTHORIZED"],
  ["an expired login", new errors.UserAuthenticationExpiredError("expired"), "UNAUTHORIZED"],
  ["a permission", new errors.PermissionViolationError("no", "publish", "$JS.API"), "FORBIDDEN"],
  ["JetStream that is off", jetStreamOff, "LOG_FAILED"],
  [
    "JetStream that the account lacks",
    answer(10_039, 503, "not enabled for account"),
    "LOG_FAILED",
  ],
  ["copies on a single server", answer(10_074, 500, "replicas > 1"), "LOG_FAILED"],
  ["an authority that is not trusted", tlsError("SELF_SIGNED_CERT_IN_CHAIN"), "LOG_FAILED"],
  ["a name that is not in it", tlsError("ERR_TLS_CERT_ALTNAME_INVALID"), "LOG_FAILED"],
  [
    "a server without TLS",
    new errors.ConnectionError("server does not support 'tls'"),
    "LOG_FAILED",
  ],
] as const) {
  test(`${what} is a lasting fault, even as the cause of another error`, () => {
    assert.equal(lastingFault(error)?.code, code);
    const wrapped = new SluiceError("DISCONNECTED", "no answer", {}, { cause: error });
    assert.equal(lastingFault(wrapped)?.code, code);
  });
}

for (const [what, error] of [
  ["a server that does not listen yet", new errors.ConnectionError("connection refused")],
  ["a name that is not known yet", Object.assign(new Error("no"), { code: "ENOTFOUND" })],
  ["a server that is late", new errors.TimeoutError()],
  ["a leader that is being elected", answer(10_008, 503, "temporarily unavailable")],
  ["servers that are not all there yet", answer(10_005, 400, "no suitable peers")],
] as const) {
  test(`${what} may pass`, () => assert.equal(lastingFault(error), undefined));
}
