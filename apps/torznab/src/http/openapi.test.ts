import assert from "node:assert/strict";
import { test } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import type { Answer } from "@sluice/server/testing/start";
import { Ajv } from "ajv";
import { openFolder } from "../testing/folder.ts";
import { sampleItems } from "../testing/indexer-server.ts";
import { openIndexer, type Started, start } from "../testing/start.ts";

interface Shape {
  content?: Record<string, { schema?: object }>;
}

interface Operation {
  operationId?: string;
  tags?: string[];
  requestBody?: Shape;
  responses: Record<string, Shape>;
}

const ajv = new Ajv({ strict: false, logger: false });

// Our own calls: those of every server are held to their description there.
const TAGS = ["indexers", "searches", "activity", "torznab"];

// Calls the service, and holds what was sent and what came to its description.
class Described {
  readonly #app: Started;
  readonly #operations: { pattern: RegExp; operation: Operation }[] = [];
  readonly called = new Set<string>();

  constructor(app: Started, paths: Record<string, Record<string, Operation>>) {
    this.#app = app;
    for (const [path, methods] of Object.entries(paths)) {
      const address = path.replace(/\{[^}]+\}/g, "[^/?]+");
      for (const [method, operation] of Object.entries(methods)) {
        const pattern = new RegExp(`^${method.toUpperCase()} ${address}(\\?|$)`);
        this.#operations.push({ pattern, operation });
      }
    }
  }

  get own(): string[] {
    const mine = this.#operations.filter(({ operation: { tags = [] } }) =>
      tags.some((tag) => TAGS.includes(tag)),
    );
    return mine.map(({ operation }) => operation.operationId ?? "?");
  }

  async call(line: string, status: number, body?: unknown): Promise<Answer["body"]> {
    const answer = await this.#app.call(line, body);
    assert.equal(answer.status, status, `${line}: ${JSON.stringify(answer.body)}`);
    const { operation } = this.#operations.find(({ pattern }) => pattern.test(line))!;
    if (status < 400) this.called.add(operation.operationId!);
    if (body !== undefined && status < 400) holds(operation.requestBody, body, line);
    const { responses } = operation;
    const response = responses[status] ?? responses[`${Math.floor(status / 100)}XX`];
    assert.ok(response, `${line}: ${status} is not described`);
    const [type] = (answer.headers.get("content-type") ?? "").split(";");
    const types = Object.keys(response.content ?? {});
    const isCaps = line.includes("t=caps");
    if (types.length > 0 && !isCaps) assert.ok(types.includes(type!), `${line}: ${type}`);
    holds(response, answer.body, line);
    return answer.body;
  }
}

function holds(shape: Shape | undefined, value: unknown, line: string): void {
  const schema = shape?.content?.["application/json"]?.schema;
  if (schema === undefined) return;
  const validate = ajv.compile(schema);
  const isHeld = validate(value);
  assert.ok(isHeld, `${line}: ${JSON.stringify(validate.errors?.[0])} ${JSON.stringify(value)}`);
}

const JACKETT = "/api/v2.0/indexers/a/results/torznab";

test("every call is described, valid OpenAPI, and answers as it says", async (t) => {
  const folder = await openFolder(t);
  const app = await start(t, { folder });
  const server = await openIndexer(t, { items: sampleItems("a", 2) });
  const { body: document } = await app.call("GET /openapi.json");
  const { valid, errors } = await new Validator().validate(document);
  assert.ok(valid, JSON.stringify(errors, null, 1));
  const api = new Described(app, document.paths);
  assert.ok(api.own.length >= 20 && !api.own.includes("?"));

  const windows = [{ limit: 50, per: "hour" }];
  const indexer = { id: "a", url: server.url, apiKey: "k", interval: 0, windows, grabs: windows };
  await api.call("POST /indexers", 201, indexer);
  await api.call("POST /indexers?test=perhaps", 400, { url: "http://x/" });
  await api.call("POST /indexers", 409, indexer);
  await api.call("PATCH /indexers/a", 200, { name: "A", floor: "0s", enabled: true });
  await api.call("PATCH /indexers/a", 400, { floor: "soon" });
  await api.call("GET /indexers", 200);
  await api.call("GET /indexers/a", 200);
  await api.call("GET /indexers/b", 404);
  for (const verb of ["test", "pause", "resume", "reset"]) {
    await api.call(`POST /indexers/a/${verb}`, 200);
  }
  await api.call("GET /indexers/a/budget", 200);
  await api.call("POST /forecast", 200, { q: "x", t: "tvsearch", season: 2, cat: [5000, "5040"] });
  const { id } = await api.call("POST /search", 202, { q: "release", priority: "rss", maxWait: 0 });
  await api.call("POST /search", 400, { q: "release", deadline: 0 });
  await api.call(`GET /search/${id}/events`, 200);
  const { releases } = await api.call(`GET /search/${id}`, 200);
  await api.call(`GET /download/a?token=${releases[0].download}`, 200);
  await api.call("GET /download/a?token=x", 404);
  await api.call(`DELETE /search/${id}`, 204);
  await app.service.parts.sluice.gate("indexer:a").cooldown("10s", "a test");
  await api.call("POST /search", 202, { q: "waits" });
  await api.call("GET /activity", 200);
  await api.call("GET /history?limit=5&indexer=a", 200);
  const usenet = ["/newznab/api", "/newznab/a", "/newznab/a/api"];
  for (const path of ["/api", "/api/a", "/api/a/api", JACKETT, `${JACKETT}/api`, ...usenet]) {
    await api.call(`GET ${path}?t=caps`, 200);
    await api.call(`GET ${path}?t=nothing`, 400);
  }
  await api.call("POST /indexers/a/reset", 200);
  await api.call("GET /api?t=search&q=release", 200);
  await api.call("DELETE /indexers/a", 204);
  assert.deepEqual(
    api.own.filter((operation) => !api.called.has(operation)),
    [],
  );
});
