import assert from "node:assert/strict";
import { test } from "node:test";
import { parseSettings, unknownVariables } from "./settings.ts";

const KEY = "a-key-that-is-long-enough-to-be-one";

test("nothing said gives the defaults", () => {
  assert.deepEqual(parseSettings(undefined, {}), {
    dir: "./torznab-data",
    keyFile: undefined,
    host: "127.0.0.1",
    port: 9797,
    apiKey: undefined,
    publicUrl: undefined,
    insecure: false,
    requestTimeoutMs: 30_000,
    interactiveDeadlineMs: 45_000,
    rssDeadlineMs: 60_000,
    completionDeadlineMs: 86_400_000,
    backgroundDeadlineMs: 600_000,
    cacheTtlMs: 600_000,
    history: 500,
    workers: 10,
    responseBytesMax: 16 * 1024 * 1024,
    indexers: [],
    hosts: [],
  });
});

test("unknown variables are found, and two indexers of one host have two names", () => {
  const environment = {
    TORZNAB_WORKERZ: "2",
    TORZNAB_WORKERS: "2",
    TORZNAB_INDEXER_A_API_KEY: "k",
  };
  assert.deepEqual(unknownVariables(environment), ["TORZNAB_WORKERZ"]);
  const indexers = ["1", "2"].map((n) => ({ url: `http://localhost:9696/${n}/api` }));
  const names = parseSettings({ indexers }, {}).indexers.map(({ name, id }) => `${name} ${id}`);
  assert.deepEqual(names, ["localhost/1 localhost-1", "localhost/2 localhost-2"]);
});

test("the public address is an address without a slash at its end", () => {
  const read = (publicUrl: string) => parseSettings({ publicUrl }, {}).publicUrl;
  assert.equal(read("https://nas.example/torznab/"), "https://nas.example/torznab");
  assert.equal(read("https://nas.example"), "https://nas.example");
  assert.throws(() => read("nas.example"), /publicUrl must be an http or https address/);
});

test("flags over the environment over the file", () => {
  const file = { listen: "127.0.0.1:1", workers: 1, cacheTtl: "1m", history: 7 };
  const environment = {
    TORZNAB_LISTEN: "127.0.0.1:2",
    TORZNAB_WORKERS: "2",
    TORZNAB_CACHE_TTL: "",
  };
  const settings = parseSettings(file, environment, { listen: "3", dir: undefined });
  const { port, host, workers, cacheTtlMs, history } = settings;
  assert.deepEqual(
    { port, host, workers, cacheTtlMs, history },
    { port: 3, host: "127.0.0.1", workers: 2, cacheTtlMs: 60_000, history: 7 },
  );
});

test("indexers stand in the file, their keys there or in the environment", () => {
  const file = {
    indexers: [
      { url: "http://localhost:9117/api/v2.0/indexers/rutor/results/torznab/", apiKey: "one" },
      {
        id: "my-tracker",
        url: "https://nas.local/prowlarr/1/api?apikey=two",
        floor: "5s",
        windows: [
          { limit: 100, per: "day" },
          { limit: 3, per: "90s" },
        ],
        grabs: [{ limit: 10, per: "day" }],
      },
    ],
  };
  const environment = { TORZNAB_INDEXER_MY_TRACKER_API_KEY: "three" };
  const [first, second] = parseSettings(file, environment).indexers;
  assert.deepEqual([first!.id, first!.name, first!.apiKey], ["rutor", "rutor", "one"]);
  assert.deepEqual(second, {
    id: "my-tracker",
    name: "nas.local/prowlarr/1",
    url: "https://nas.local/prowlarr/1/api",
    apiKey: "three",
    limits: {
      floor: 5_000,
      windows: [
        { limit: 100, per: 86_400_000 },
        { limit: 3, per: 90_000 },
      ],
      grabs: [{ limit: 10, per: 86_400_000 }],
    },
  });
});

test("hosts stand in the file, spelled as in an address", () => {
  const hosts = [{ host: "NAS.local:9696", interval: "2s", windows: [{ limit: 5, per: "hour" }] }];
  assert.deepEqual(parseSettings({ hosts }, {}).hosts, [
    {
      host: "nas.local:9696",
      limits: { interval: 2_000, windows: [{ limit: 5, per: 3_600_000 }] },
    },
  ]);
});

test("an error names the invalid field", () => {
  const one = { url: "http://x/" };
  for (const [file, environment, field] of [
    [{ colour: 1 }, {}, "settings.colour"],
    [{ listen: "nowhere" }, {}, "listen"],
    // What cannot even become a text.
    [{ listen: Object.create(null) }, {}, "listen"],
    [{ cacheTtl: Object.create(null) }, {}, "cacheTtl"],
    [{ listen: "127.0.0.1:70000" }, {}, "listen"],
    [{ listen: "0.0.0.0:80" }, {}, "listen"],
    [{ workers: 0 }, {}, "workers"],
    [{ requestTimeout: "0s" }, {}, "requestTimeout"],
    [{ responseBytesMax: 17 * 1024 * 1024 }, {}, "responseBytesMax"],
    [{ indexers: {} }, {}, "indexers"],
    [{ indexers: [one, one] }, {}, "indexers[1].id"],
    [{ indexers: [{}] }, {}, "indexers[0].url"],
    [{ indexers: [{ ...one, categories: [] }] }, {}, "indexers[0].categories"],
    [{ indexers: [{ ...one, categories: { 1: "x" } }] }, {}, "indexers[0].categories.1"],
    [{ indexers: [{ ...one, host: "a b" }] }, {}, "indexers[0].host"],
    [{ hosts: {} }, {}, "hosts"],
    [{ hosts: [{ host: "a" }] }, {}, "hosts[0]"],
    [{ hosts: [{ host: "http://a/", interval: 1 }] }, {}, "hosts[0].host"],
    [
      {
        hosts: [
          { host: "A", concurrency: 1 },
          { host: "a:80", interval: 1 },
        ],
      },
      {},
      "hosts[1].host",
    ],
    [{}, { TORZNAB_API_KEY: "short" }, "TORZNAB_API_KEY"],
    [[], {}, "settings"],
  ] as const) {
    assert.throws(
      () => parseSettings(file, environment),
      (error: { code: string; details: { field: string } }) => {
        assert.deepEqual([error.code, error.details.field], ["INVALID", field]);
        return true;
      },
      field,
    );
  }
});

test("an address that others can reach needs a key, or the insecure option", () => {
  const open = { listen: "0.0.0.0:9797" };
  assert.equal(parseSettings({ ...open, insecure: true }, {}).host, "0.0.0.0");
  assert.equal(parseSettings({ ...open, apiKey: KEY }, {}).apiKey, KEY);
  assert.equal(parseSettings({ listen: "[::1]:5" }, {}).host, "::1");
});

test("no message repeats a key, wherever it was written by mistake", () => {
  const url = "http://x/";
  for (const [file, environment] of [
    [{ apiKey: "s3cret" }, {}],
    [{ apikey: "s3cret" }, {}],
    [{ indexers: [{ url: "ftp://x/?apikey=s3cret" }] }, {}],
    [{ indexers: [{ url: "http://me:s3cret@x/" }] }, {}],
    [{ indexers: [{ url, api_key: "s3cret" }] }, {}],
    [{ indexers: [{ url, key: "s3cret" }] }, {}],
    [{ indexers: [{ url, apiKey: ["s3cret"] }] }, {}],
    [{ indexers: { url, apiKey: "s3cret" } }, {}],
    [{ indexers: "http://x/?apikey=s3cret" }, {}],
    [{ tracker: { url, passkey: "s3cret" } }, {}],
    [{ indexers: [{ id: "a", url }] }, { TORZNAB_INDEXER_A_API_KEY: "s3cret".repeat(100) }],
    [{}, { TORZNAB_API_KEY: "s3cret" }],
  ] as const) {
    assert.throws(
      () => parseSettings(file, environment),
      (error: Error & { details: object }) => {
        const said = JSON.stringify([error.message, error.details]);
        assert.doesNotMatch(said, /s3cret/);
        return true;
      },
      JSON.stringify(file),
    );
  }
});

test("an error names the invalid value", () => {
  for (const [file, message] of [
    [{ workers: "none" }, /^workers must be a whole number from 1 to 1000, got none$/],
    [{ apiKey: "short" }, /^apiKey must be .*, got 5 characters, which are not shown$/],
    [{ apiKey: 5 }, /^apiKey must be .*, got something else, which is not shown$/],
    [{ indexers: [{ url: "x?y" }] }, /^indexers\[0\]\.url must be an http .*, got x$/],
    [{ indexers: {} }, /^indexers must be a list, got \{\}$/],
  ] as const) {
    assert.throws(() => parseSettings(file, {}), { message });
  }
});
