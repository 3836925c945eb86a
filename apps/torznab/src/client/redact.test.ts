import assert from "node:assert/strict";
import { test } from "node:test";
import { redact } from "./redact.ts";

test("known secrets and all that is named like one are taken out", () => {
  for (const [text, clean] of [
    ["http://x/?t=caps&apikey=abc&q=y", "http://x/?t=caps&apikey=REDACTED&q=y"],
    ["jackett_apikey=abc&path=1", "jackett_apikey=REDACTED&path=1"],
    ["torrent_pass=abc authkey=d", "torrent_pass=REDACTED authkey=REDACTED"],
    ["API_KEY=abc", "API_KEY=REDACTED"],
    ["wrong key s/cret given", "wrong key REDACTED given"],
    ["r=s%2Fcret", "r=REDACTED"],
    ["q=nothing here", "q=nothing here"],
  ] as const) {
    assert.equal(redact(text, ["s/cret", ""]), clean);
  }
});
