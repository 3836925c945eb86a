/** What the JSON API takes and answers, for `/openapi.json` and its readers. */
import { shapes } from "sluice/http";
import {
  CATEGORIES_MAX,
  HISTORY_PAGE_MAX,
  INDEXERS_MAX,
  QUERY_CHARS_MAX,
  WINDOWS_MAX,
} from "../limits.ts";
import { STATUSES } from "../scheduler/outcome.ts";
import { PRIORITIES } from "../scheduler/priority.ts";
import { MODES } from "../xml/read-caps.ts";

const { answers, COUNT, DONE, FLAG, list, MS, NUMBER, object, TEXT, TIME } = shapes;
type Schema = shapes.Schema;

const choice = (values: readonly string[]): Schema => ({ type: "string", enum: values });

const PRIORITY = choice(PRIORITIES);
const MODE = choice(MODES);
const STATUS = choice(STATUSES);
const NUMERAL: Schema = { type: ["string", "integer"] };
const DURATION: Schema = {
  type: ["string", "number"],
  description: "Milliseconds, or a text such as 30s.",
};

const WINDOWS_GIVEN = list(
  object(
    {
      limit: { type: "integer", minimum: 1 },
      per: { ...DURATION, description: "minute, hour, day, or a duration." },
    },
    ["limit", "per"],
  ),
  { maxItems: WINDOWS_MAX },
);

const DESCRIBED_INDEXER = {
  name: { ...TEXT, description: "Absent: from its address." },
  url: { ...TEXT, description: "The address that its program shows; a key in it is taken out." },
  apiKey: { ...TEXT, writeOnly: true },
  enabled: FLAG,
  interval: { ...DURATION, description: "Base spacing of two requests. Default 10s." },
  floor: { ...DURATION, description: "No priority waits less than this." },
  windows: WINDOWS_GIVEN,
  grabs: { ...WINDOWS_GIVEN, description: "The same for downloads." },
  host: { ...TEXT, description: "Whose limits it shares. Default: the host of its address." },
  categories: {
    type: "object",
    additionalProperties: { type: "integer" },
    description: "Its own category numbers, and the standard ones that they are.",
  } satisfies Schema,
};

const KIND: Schema = {
  ...choice(["torznab", "newznab"]),
  description: "newznab for usenet. Default torznab.",
};
const ID: Schema = { type: "string", pattern: "^[a-z0-9][a-z0-9_-]{0,63}$" };

const WINDOWS = list(object({ limit: COUNT, per: MS, used: COUNT, left: COUNT }));
const COOLDOWN = object({ until: TIME, reason: TEXT });

const BUDGET = object({
  indexer: TEXT,
  windows: WINDOWS,
  grabs: WINDOWS,
  host: object({ name: TEXT, running: COUNT, windows: WINDOWS }),
  running: COUNT,
  ladderStep: COUNT,
  reported: object({ current: COUNT, max: COUNT }),
  cooldown: COOLDOWN,
  nextSlot: object(Object.fromEntries(PRIORITIES.map((priority) => [priority, TIME]))),
  text: { ...TEXT, description: "Such as: 12 of 100 left, next slot now." },
});

const HISTORY_ROW = object({
  at: TIME,
  endedAt: TIME,
  indexer: TEXT,
  kind: choice(["search", "caps", "download"]),
  what: TEXT,
  status: STATUS,
  count: COUNT,
  error: TEXT,
});

const TESTED = object({ ok: FLAG, title: TEXT, modes: list(MODE), error: TEXT }, ["ok"]);

const LIMITS = object({
  interval: MS,
  floor: MS,
  windows: list(object({ limit: COUNT, per: MS })),
  grabs: list(object({ limit: COUNT, per: MS })),
});

const INDEXER = object(
  {
    id: TEXT,
    name: TEXT,
    url: TEXT,
    enabled: FLAG,
    limits: LIMITS,
    host: TEXT,
    categories: { type: "object", additionalProperties: { type: "integer" } },
    source: choice(["api", "settings"]),
    refusedBecause: TEXT,
    capsAt: TIME,
    hasKey: FLAG,
    state: { ...TEXT, description: "open, or in words why it is not asked." },
    modes: { type: "object", description: "The parameters of each function that it has." },
    budget: BUDGET,
    last: HISTORY_ROW,
    test: TESTED,
  },
  ["id", "name", "url", "state", "budget"],
);

const REPORT = object(
  {
    indexer: TEXT,
    name: TEXT,
    status: choice([...STATUSES, "waiting"]),
    count: COUNT,
    cached: FLAG,
    cut: FLAG,
    more: object({ offset: COUNT, count: COUNT }),
    error: TEXT,
    retryAfterMs: MS,
  },
  ["indexer", "name", "status", "count"],
);

const FROM = object({ id: TEXT, name: TEXT });

const RELEASE = object(
  {
    title: TEXT,
    guid: TEXT,
    magnet: TEXT,
    download: { ...TEXT, description: "The token of GET /download/:id of its indexer." },
    infohash: TEXT,
    comments: TEXT,
    publishedAt: TIME,
    sizeBytes: COUNT,
    files: COUNT,
    grabs: COUNT,
    seeders: COUNT,
    leechers: COUNT,
    peers: COUNT,
    downloadFactor: NUMBER,
    uploadFactor: NUMBER,
    categories: list(COUNT),
    attributes: list(list(TEXT)),
    indexer: FROM,
    from: list(FROM),
  },
  ["title", "guid", "indexer"],
);

const STATUS_OF_SEARCH = {
  id: TEXT,
  done: FLAG,
  failure: { ...TEXT, description: "Absent when an indexer answered." },
  query: { type: "object", description: "The search as it was understood." },
  priority: PRIORITY,
  createdAt: TIME,
  deadline: TIME,
  indexers: list(REPORT),
};

const SEARCH = object(STATUS_OF_SEARCH, ["id", "done", "indexers"]);
const SEARCH_AND_RELEASES = object({ ...STATUS_OF_SEARCH, releases: list(RELEASE), total: COUNT }, [
  "id",
  "done",
  "indexers",
  "releases",
]);

const CATEGORIES: Schema = {
  anyOf: [
    NUMERAL,
    list(NUMERAL, { maxItems: CATEGORIES_MAX, description: "Or a text with commas." }),
  ],
};

/** The parameters of a search beside these stand as they do in a URL. */
const ASKED: Schema = {
  type: "object",
  properties: {
    t: MODE,
    q: { type: ["string", "integer"], maxLength: QUERY_CHARS_MAX },
    cat: CATEGORIES,
    indexers: list(TEXT, { maxItems: INDEXERS_MAX, description: "Ids. Absent: all." }),
    priority: PRIORITY,
    maxWait: { ...DURATION, description: "0: the default of the priority." },
    deadline: DURATION,
  },
  additionalProperties: {
    type: ["string", "integer"],
    description: "imdbid, tvdbid, season, ep, artist, ...: what the function knows.",
  },
};

const DRY = object(
  {
    indexer: TEXT,
    goes: choice(["now", "later", "cached", "rate_limited", "skipped"]),
    at: TIME,
    reason: TEXT,
  },
  ["indexer", "goes"],
);

const WAITING = object({
  indexer: TEXT,
  search: TEXT,
  priority: PRIORITY,
  since: TIME,
  reason: TEXT,
  until: TIME,
});

const ACTIVITY = object({
  queued: list(WAITING),
  running: list(WAITING),
  cooling: list(object({ indexer: TEXT, until: TIME, reason: TEXT, ladderStep: COUNT })),
});

const PARAMS = object({ id: { type: "string", maxLength: 64 } }, ["id"]);

/** Answers that are no JSON. */
const raw = (type: string, description: string): Schema => ({
  description,
  content: { [type]: { schema: TEXT } },
});

function about(tag: string, operationId: string, summary: string, more: Schema): Schema {
  return { operationId, summary, tags: [tag], ...more };
}

const ofIndexer = (operationId: string, summary: string, response: Schema, body?: Schema): Schema =>
  about("indexers", operationId, summary, {
    params: PARAMS,
    response,
    ...(body === undefined ? {} : { body }),
  });

const ofSearch = (operationId: string, summary: string, response: Schema): Schema =>
  about("searches", operationId, summary, { params: PARAMS, response });

const { 200: _, ...REFUSED } = answers(TEXT);

/** As the protocol has them; others that a function knows are taken too. */
const TORZNAB_PARAMETERS: Schema = {
  type: "object",
  properties: {
    t: choice(["caps", "indexers", "get", ...MODES]),
    id: { ...TEXT, description: "With `t=get`: the guid of a release, or its last part." },
    apikey: { ...TEXT, description: "Where the service has a key." },
    q: TEXT,
    cat: { ...TEXT, description: "Numbers with commas." },
    limit: COUNT,
    offset: COUNT,
    priority: PRIORITY,
  },
  required: ["t"],
};

const XML_ERROR = raw("application/xml", "An error element, with the protocol's code.");

/** Our own Torznab endpoint, at one of its addresses. */
export function torznabSchema(operationId: string, hasIndexer: boolean): Schema {
  const summary = hasIndexer ? "One indexer, in Torznab" : "All indexers as one, in Torznab";
  return about("torznab", operationId, summary, {
    ...(hasIndexer ? { params: object({ indexer: TEXT }, ["indexer"]) } : {}),
    querystring: TORZNAB_PARAMETERS,
    response: {
      200: raw("application/rss+xml", "A feed, or what can be searched for."),
      "4xx": XML_ERROR,
      "5xx": XML_ERROR,
    },
  });
}

/**
 * A schema that describes a route and checks nothing. What comes in is read by parsers of our own,
 * the same as for the file and the environment: they name the field and show no key.
 */
export function described(schema: Schema) {
  return { schema, validatorCompiler: () => () => true };
}

export const SCHEMAS = {
  listIndexers: about("indexers", "listIndexers", "All indexers and their budgets", {
    response: answers(object({ indexers: list(INDEXER) }, ["indexers"])),
  }),
  addIndexer: about("indexers", "addIndexer", "Add an indexer, and test it", {
    querystring: object({ test: { ...choice(["true", "false"]), description: "Default true." } }),
    body: object({ id: ID, kind: KIND, ...DESCRIBED_INDEXER }, ["url"]),
    response: { 201: INDEXER, ...REFUSED },
  }),
  getIndexer: ofIndexer("getIndexer", "An indexer and its budget", answers(INDEXER)),
  changeIndexer: ofIndexer(
    "changeIndexer",
    "Change what is mentioned",
    answers(INDEXER),
    object(DESCRIBED_INDEXER),
  ),
  removeIndexer: ofIndexer("removeIndexer", "Remove an indexer and what was used of it", DONE),
  testIndexer: ofIndexer(
    "testIndexer",
    "Fetch its caps now",
    answers(object({ test: TESTED }, ["test"])),
  ),
  pauseIndexer: ofIndexer("pauseIndexer", "Stop asking it", answers(INDEXER)),
  resumeIndexer: ofIndexer("resumeIndexer", "Ask it again", answers(INDEXER)),
  resetIndexer: ofIndexer("resetIndexer", "End its cooldown and its ladder", answers(INDEXER)),
  getBudget: ofIndexer("getBudget", "What is left, and when the next slot is", answers(BUDGET)),
  search: about("searches", "search", "Start a search; answered means on disk", {
    body: ASKED,
    response: { 202: SEARCH, ...REFUSED },
  }),
  forecast: about("searches", "forecast", "A dry run: who would be asked, when, or why not", {
    body: ASKED,
    response: answers(object({ indexers: list(DRY) }, ["indexers"])),
  }),
  getSearch: ofSearch("getSearch", "A search and its releases", answers(SEARCH_AND_RELEASES)),
  cancelSearch: ofSearch("cancelSearch", "Cancel a search", DONE),
  streamSearch: ofSearch("streamSearch", "Each indexer as it ends, then done", {
    200: raw("text/event-stream", "Server-sent events `indexer` and `done`."),
    ...REFUSED,
  }),
  getActivity: about("activity", "getActivity", "Who waits, is asked, cools down, and why", {
    response: answers(ACTIVITY),
  }),
  getHistory: about("activity", "getHistory", "The last requests to indexers", {
    querystring: object({
      indexer: TEXT,
      limit: { type: "integer", minimum: 1, maximum: HISTORY_PAGE_MAX },
    }),
    response: answers(object({ rows: list(HISTORY_ROW) }, ["rows"])),
  }),
  download: about("searches", "download", "What a link in our feeds leads to", {
    params: PARAMS,
    querystring: object({ token: TEXT }),
    response: {
      200: raw("application/x-bittorrent", "A torrent file."),
      302: { type: "null", description: "A magnet link." },
      ...REFUSED,
    },
  }),
} satisfies Record<string, Schema>;
