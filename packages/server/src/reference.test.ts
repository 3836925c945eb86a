// The pages of HTTP, metrics and events name all that a running server has, and nothing else.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { EVENT_NAMES } from "@sluice/protocol";
import { payload, start } from "./testing/start.ts";

const REFERENCE = join(import.meta.dirname, "..", "..", "..", "docs", "reference");
const pageOf = (name: string): string => readFileSync(join(REFERENCE, name), "utf8");

test("the page of HTTP has every route of a server", async (t) => {
  const { call } = await start(t);
  const { body } = await call("GET /openapi.json");
  const routes = Object.entries<object>(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(
      (method) => `${method.toUpperCase()} ${path.replace(/\{([^}]+)\}/g, ":$1")}`,
    ),
  );
  const page = pageOf("http.md");
  assert.ok(routes.length > 60, `${routes.length} routes`);
  assert.deepEqual(
    routes.filter((route) => !page.includes(`\`${route}\``)),
    [],
  );
});

test("the page of metrics has every metric of a server, and those of a cluster", async (t) => {
  const { broker, call } = await start(t);
  await broker.setQueue("mail", { policy: { lua: "function on_enqueue(m) return {} end" } });
  await broker.setGate("smtp", { concurrency: 1, rate: 5 });
  await broker.add("mail", [
    { payload, gates: ["smtp"] },
    { payload, gates: ["smtp"] },
  ]);
  await broker.lease("mail", { max: 2 });
  const { body } = await call("GET /metrics");
  const shown = [...String(body).matchAll(/^# TYPE ((?:sluice|http)_\w+) (\w+)$/gm)];
  const page = pageOf("metrics.md");
  assert.ok(shown.length > 40, `${shown.length} metrics`);
  for (const [, name, kind] of shown) {
    assert.match(page, new RegExp(`^\\| \`${name}\` \\| ${kind} \\|`, "m"), name);
  }
  const names = new Set(shown.map(([, name]) => name));
  for (const [, name = ""] of page.matchAll(/^\| `((?:sluice|http)_\w+)`/gm)) {
    // Those of a cluster, and those that a server shows once it has counted one.
    if (!names.has(name))
      assert.match(name, /^sluice_(cluster|partition|nats|gate_kept|schedule_ticks)/);
  }
});

test("the page of events has every kind", () => {
  const page = pageOf("events.md");
  const kinds = [...page.matchAll(/^\| (`[^|]+`) \|.*\|.*\|$/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([\w-]+)`/g)].map(([, kind]) => kind),
  );
  assert.deepEqual(kinds.toSorted(), [...EVENT_NAMES].toSorted());
});
