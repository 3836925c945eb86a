import assert from "node:assert/strict";
import { test } from "node:test";
import { parseChange, parseIndexer } from "../settings/indexer-input.ts";
import {
  about,
  changeOf,
  hostLimitsOf,
  indexerOf,
  perText,
  shownIndexer,
} from "./indexer-forms.ts";

const TYPED = {
  url: "http://nas.local:9696/1/api",
  apiKey: "the-key",
  name: "My tracker",
  kind: "torznab",
  interval: "90s",
  floor: "",
  windows: "100/day, 3 per 90s",
  grabs: "",
  host: "",
  categories: "100123=5040, 7=2000",
};

test("the API accepts the typed values, and the form shows them again as typed", () => {
  const { limits, categories, ...rest } = parseIndexer("indexer", indexerOf(TYPED));
  assert.deepEqual(limits, {
    interval: 90_000,
    windows: [
      { limit: 100, per: 86_400_000 },
      { limit: 3, per: 90_000 },
    ],
  });
  const record = { ...rest, limits, categories: categories!, enabled: true, sealedKey: "x" };
  const shown = shownIndexer({ ...record, source: "api" });
  assert.equal(JSON.stringify(shown).includes("the-key"), false);
  assert.deepEqual(
    [shown.interval, shown.floor, shown.windows, shown.categories],
    ["90s", "", "100/day, 3/90s", "7=2000, 100123=5040"],
  );
});

test("emptied fields of a change remove limits, but never the key", () => {
  const emptied = { ...TYPED, kind: "", apiKey: "", windows: "", categories: "" };
  const change = parseChange("indexer", changeOf(emptied));
  assert.deepEqual([change.limits?.windows, change.limits?.grabs], [[], []]);
  assert.deepEqual(change.categories, {});
  assert.equal(change.apiKey, undefined);
});

test("an error names the invalid field and its value", () => {
  assert.throws(() => indexerOf({ windows: "many" }), /windows must be a list such as.*many/);
  assert.throws(() => indexerOf({ categories: "a=b" }), /categories must be a list such as.*a=b/);
  assert.throws(() => hostLimitsOf({ windows: "5" }), /windows must be a list/);
});

test("lengths of time are named", () => {
  assert.deepEqual([perText(3_600_000), perText(90_000)], ["hour", "90s"]);
  assert.deepEqual([about(0), about(1_400), about(150_000)], ["0 ms", "1 s", "3 min"]);
});
