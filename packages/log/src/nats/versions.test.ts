import assert from "node:assert/strict";
import { test } from "node:test";
import { checkNatsVersion, isTestedNats, NATS_OLDEST } from "./versions.ts";

test("the oldest tested nats-server and newer ones are taken, older ones are not", () => {
  for (const version of [NATS_OLDEST, "2.15.2", "2.15.10", "2.16.0-preview.1", "3.0.0"]) {
    assert.equal(isTestedNats(version), true, version);
  }
  for (const version of ["2.9.10", "2.10.27", "2.15.0", "1.99.99", "", "?"]) {
    assert.equal(isTestedNats(version), false, version);
  }
});

test("an older nats-server is refused by its version, with what to do", () => {
  assert.throws(() => checkNatsVersion("2.9.10", "nats://a"), {
    code: "INVALID",
    message: /^nats:\/\/a is nats-server 2\.9\.10; .* or newer, .*--allow-untested-nats$/,
  });
  checkNatsVersion(NATS_OLDEST, "nats://a");
});
