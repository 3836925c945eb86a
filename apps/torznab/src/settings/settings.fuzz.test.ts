import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { SluiceError } from "sluice";
import { parseQuery, QueryError } from "../client/query.ts";
import { parseIndexer } from "./indexer-input.ts";
import { parseSettings } from "./settings.ts";

const INPUTS = Number(process.env.FUZZ_INPUTS ?? 20_000);

const NAMES = [
  ...["dir", "listen", "apiKey", "workers", "history", "cacheTtl", "indexers", "insecure"],
  ...["id", "url", "name", "windows", "grabs", "interval", "floor", "limit", "per", "enabled"],
  ...["t", "q", "cat", "offset", "imdbid", "season", "__proto__", "constructor"],
];
const TEXTS = ["http://x/api?apikey=k", "127.0.0.1:1", "10s", "hour", "movie", "tt1", "true", "-1"];

const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<unknown>(...TEXTS, null, true, 0, -1, 1e99, Number.NaN),
    fc.string({ maxLength: 20 }),
    fc.integer(),
    fc.array(tie("any"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie("any"), { maxKeys: 6 }),
  ),
})).any;

test(`${INPUTS} wild settings, indexers and queries are read or refused with the field`, () => {
  let read = 0;
  const tried = (parse: () => unknown): void => {
    try {
      parse();
      read++;
    } catch (error) {
      const isTold = error instanceof QueryError || error instanceof SluiceError;
      assert.ok(isTold, String((error as Error).stack));
    }
  };
  const check = (wild: unknown): void => {
    tried(() => parseSettings(wild, {}));
    tried(() => parseIndexer("indexer", wild));
    tried(() => parseQuery(Object(wild)));
  };
  fc.assert(fc.property(value, check), { numRuns: INPUTS });
  assert.ok(read > INPUTS / 100, `only ${read} could be read`);
});
