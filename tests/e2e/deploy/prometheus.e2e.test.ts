// The queries of the Grafana dashboard and the alert rules, asked of a Prometheus that scrapes a
// server which has work.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { parse } from "yaml";
import { fillServer } from "../dashboard/scene.ts";
import { DashboardServer, freePort } from "../dashboard/server.ts";
import { needProgram } from "../debian.ts";

const deploy = join(dirname(dirname(dirname(import.meta.dirname))), "deploy");
const PATIENCE_MS = 60_000;
// Of a rule, the query without its bound: a rule that does not fire has no series.
const BOUND = /^(.*?) (?:==|>) [\d.]+$/s;

interface Rule {
  readonly alert: string;
  readonly expr: string;
}

function rules(): Rule[] {
  const { groups } = parse(readFileSync(join(deploy, "prometheus", "alerts.yaml"), "utf8"));
  // A single server has no partitions: that group is checked by promtool alone.
  return groups.find(({ name }: { name: string }) => name === "sluice").rules;
}

function panels(): string[] {
  const { panels } = JSON.parse(readFileSync(join(deploy, "grafana", "sluice.json"), "utf8"));
  const targets = panels.flatMap(({ targets = [] }: { targets?: { expr: string }[] }) => targets);
  return targets.map(({ expr }: { expr: string }) =>
    expr.replaceAll("$__rate_interval", "1m").replaceAll("$queue", ".*"),
  );
}

// What every panel shows: gates, lanes, a script, failures, a refused add.
async function give(server: DashboardServer): Promise<void> {
  await fillServer(server);
  const lua = "function on_enqueue(msg) return { weight = 2 } end";
  const made = await server.call("PUT /v1/queues/scripted", {
    policy: { lua },
    capacity: { jobs: 1 },
  });
  assert.equal(made.status, 200);
  for (let i = 0; i < 2; i++) await server.call("POST /v1/queues/scripted/jobs", { payload: i });
  await server.call("PUT /v1/gates/smtp", { rate: 1, burst: 1 });
  await server.call("PUT /v1/queues/mail", {});
  const jobs = ["a", "b", "c"].map((fairnessKey) => ({ payload: 1, fairnessKey, gates: ["smtp"] }));
  await server.call("POST /v1/queues/mail/jobs", { jobs });
  const { jobs: held } = (await server.call("POST /v1/queues/mail/lease", { max: 1 })).body;
  await server.call("POST /v1/ack", { items: [{ lease: held[0].lease }] });
}

async function prometheus(t: TestContext, target: string): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), "sluice-prometheus-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const given = readFileSync(join(deploy, "prometheus", "prometheus.yaml"), "utf8");
  const config = given
    .replace("scrape_interval: 15s", "scrape_interval: 1s\n  evaluation_interval: 1s")
    .replace("127.0.0.1:7070", target);
  assert.notEqual(config, given);
  writeFileSync(join(dir, "prometheus.yaml"), config);
  writeFileSync(join(dir, "alerts.yaml"), readFileSync(join(deploy, "prometheus", "alerts.yaml")));
  const listen = `127.0.0.1:${await freePort()}`;
  const child = spawn("prometheus", [
    `--config.file=${dir}/prometheus.yaml`,
    `--storage.tsdb.path=${dir}/data`,
    `--web.listen-address=${listen}`,
  ]);
  t.after(async () => {
    const ended = once(child, "exit");
    child.kill();
    await ended;
  });
  await new Promise<void>((resolve, reject) => {
    let said = "";
    child.stderr.on("data", (text) => {
      said += text;
      if (said.includes("Server is ready")) resolve();
    });
    child.once("exit", () => reject(new Error(`prometheus ended: ${said}`)));
  });
  return `http://${listen}/api/v1`;
}

interface Result {
  readonly result: readonly unknown[];
}

async function seriesOf(api: string, query: string): Promise<number> {
  const response = await fetch(`${api}/query?${new URLSearchParams({ query })}`);
  const answer = (await response.json()) as { status: string; error?: string; data: Result };
  assert.equal(answer.status, "success", `${query}: ${answer.error}`);
  return answer.data.result.length;
}

// Asks again until each has answered: a rate needs two scrapes.
async function unanswered(api: string, queries: readonly string[]): Promise<string[]> {
  const until = performance.now() + PATIENCE_MS;
  let left = [...queries];
  while (left.length > 0 && performance.now() < until) {
    const counts = await Promise.all(left.map((query) => seriesOf(api, query)));
    left = left.filter((_, i) => counts[i] === 0);
  }
  return left;
}

test("promtool accepts the rules and the configuration", () => {
  needProgram("promtool", "prometheus");
  const file = join(deploy, "prometheus", "prometheus.yaml");
  const { status, stdout, stderr } = spawnSync("promtool", ["check", "config", file]);
  assert.equal(status, 0, `${stdout}${stderr}`);
});

test("every query of the dashboard and of the alert rules has series", async (t) => {
  needProgram("prometheus", "prometheus");
  await using server = await DashboardServer.start("--durability", "memory");
  await give(server);
  const api = await prometheus(t, `127.0.0.1:${server.port}`);
  const queries = [...panels(), ...rules().map(({ expr }) => BOUND.exec(expr)![1]!)];
  // The one that counts errors of the server has none to count.
  const errors = (query: string): string => query.replace('status=~"5.."', 'status=~"..."');
  assert.deepEqual(await unanswered(api, queries.map(errors)), []);
  t.diagnostic(`${queries.length} queries have series`);
  const { data } = (await (await fetch(`${api}/rules`)).json()) as {
    data: { groups: { rules: { name: string; health: string }[] }[] };
  };
  const sick = data.groups.flatMap((group) => group.rules).filter(({ health }) => health !== "ok");
  assert.deepEqual(sick, []);
});
