/** What the calls about other programs take and answer, for `/openapi.json`. */
import { shapes } from "sluice/http";
import { described } from "./schemas.ts";

export { described };

const { answers, DONE, FLAG, list, object, TEXT, TIME } = shapes;
type Schema = shapes.Schema;

const choice = (values: readonly string[]): Schema => ({ type: "string", enum: values });

const SOURCE = {
  id: TEXT,
  kind: choice(["prowlarr", "jackett"]),
  url: TEXT,
  syncedAt: TIME,
  error: { ...TEXT, description: "Why it could not be read the last time." },
  indexers: list(TEXT),
};
const SYNCED = object({ ...SOURCE, added: list(TEXT), removed: list(TEXT) }, ["id", "indexers"]);
const KEY: Schema = { ...TEXT, writeOnly: true };
const REGISTERED = object({
  program: TEXT,
  name: TEXT,
  kind: TEXT,
  id: { type: "integer" },
  isNew: FLAG,
});
const { 200: _, ...REFUSED } = answers(TEXT);

function about(operationId: string, summary: string, more: Schema): Schema {
  return { operationId, summary, tags: ["sources"], ...more };
}

const PARAMS = object({ id: { type: "string", maxLength: 64 } }, ["id"]);

export const SOURCE_SCHEMAS = {
  listSources: about("listSources", "Programs whose indexers are taken over", {
    response: answers(object({ sources: list(object(SOURCE)) }, ["sources"])),
  }),
  addSource: about("addSource", "Take over all indexers of a Prowlarr or Jackett, or set its key", {
    body: object({ kind: SOURCE.kind, url: TEXT, apiKey: KEY }, ["kind", "url", "apiKey"]),
    response: { 200: SYNCED, 201: SYNCED, ...REFUSED },
  }),
  syncSource: about("syncSource", "Bring its indexers up to date now", {
    params: PARAMS,
    response: answers(SYNCED),
  }),
  removeSource: about("removeSource", "Remove it and its indexers", {
    params: PARAMS,
    response: DONE,
  }),
  register: about("register", "Make this service known to Sonarr or Radarr", {
    body: object(
      { program: choice(["sonarr", "radarr"]), url: TEXT, apiKey: KEY, self: TEXT, name: TEXT },
      ["program", "url", "apiKey"],
    ),
    response: answers(object({ registered: list(REGISTERED) }, ["registered"])),
  }),
} satisfies Record<string, Schema>;
