import assert from "node:assert/strict";
import { test } from "node:test";
import { hostOf, Submitters } from "./submitters.ts";

const URL_ID = "https://217.28.137.141:50035";

test("submitters on the list go to the fast tier, all others to the last", () => {
  const submitters = new Submitters("exact", ["fast", "slow"]);
  submitters.replace([{ id: URL_ID }]);
  assert.equal(submitters.tierOf(URL_ID), 0);
  assert.equal(submitters.tierOf(`${URL_ID}/`), 1, "the whole string is compared");
  assert.equal(submitters.tierOf("other"), 1);
  assert.equal(submitters.tierOf(undefined), 1);
});

test("a list can name tiers; who names none goes to fast, or to the first", () => {
  const submitters = new Submitters("exact", ["vip", "fast", "slow"]);
  submitters.replace([{ id: "a" }, { id: "b", tier: "vip" }, { id: "c", tier: "slow" }]);
  assert.deepEqual(
    ["a", "b", "c", "d"].map((id) => submitters.tierOf(id)),
    [1, 0, 2, 2],
  );
  const other = new Submitters("exact", ["gold", "rest"]);
  other.replace([{ id: "a" }]);
  assert.equal(other.tierOf("a"), 0);
});

test("host: a URL and its host and port are the same submitter", () => {
  const submitters = new Submitters("host", ["fast", "slow"]);
  submitters.replace([{ id: URL_ID }]);
  for (const id of [URL_ID, `${URL_ID}/`, "217.28.137.141:50035", "http://217.28.137.141:50035"]) {
    assert.equal(submitters.tierOf(id), 0, id);
  }
  assert.equal(submitters.tierOf("https://217.28.137.141:50036"), 1);
});

test("the host of a name is its host and port, a port of its scheme included", () => {
  assert.equal(hostOf("https://Example.com/path?query"), "example.com:443");
  assert.equal(hostOf("http://example.com"), "example.com:80");
  assert.equal(hostOf("example.com:50035"), "example.com:50035");
  assert.equal(hostOf("worker 1"), "worker 1", "what is no address stays as it is");
});

test("in legacy mode there is one tier for all", () => {
  const submitters = new Submitters("exact", ["slow"]);
  submitters.replace([{ id: "a" }]);
  assert.equal(submitters.tierOf("a"), 0);
  assert.equal(submitters.tierOf("b"), 0);
});
