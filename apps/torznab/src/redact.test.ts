import assert from "node:assert/strict";
import { test } from "node:test";
import { redact, redactFound } from "./redact.ts";

test("known secrets and all that is named like one are taken out", () => {
  for (const [text, clean] of [
    ["http://x/?t=caps&apikey=abc&q=y", "http://x/?t=caps&apikey=REDACTED&q=y"],
    ["jackett_apikey=abc&path=1", "jackett_apikey=REDACTED&path=1"],
    ["torrent_pass=abc authkey=d", "torrent_pass=REDACTED authkey=REDACTED"],
    ["API_KEY=abc", "API_KEY=REDACTED"],
    ["wrong key s/cret-of-some-length given", "wrong key REDACTED given"],
    ["r=s%2Fcret-of-some-length", "r=REDACTED"],
    ["q=nothing here", "q=nothing here"],
  ] as const) {
    assert.equal(redact(text, ["s/cret-of-some-length", ""]), clean);
  }
});

test("a one-character key is redacted where it is used as a key, not in every word", () => {
  for (const [text, clean] of [
    ["Release 1 of S01E11", "Release 1 of S01E11"],
    ["http://x/dl/1/file?r=1&i=11", "http://x/dl/REDACTED/file?r=REDACTED&i=11"],
    ["http://x/?r=1", "http://x/?r=REDACTED"],
  ] as const) {
    assert.equal(redactFound(text, ["1"]), clean);
  }
  assert.equal(redact("Invalid API Key s3cret!", ["s3cret"]), "Invalid API Key REDACTED!");
});
