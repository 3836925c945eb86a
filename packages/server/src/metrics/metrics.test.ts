import assert from "node:assert/strict";
import { test } from "node:test";
import { METRIC_LANES_MAX, METRIC_QUEUES_MAX } from "../limits.ts";
import { payload, start } from "../testing/start.ts";

test("the figures of queues, times, the log, lanes and gates are there", async (t) => {
  const { broker, call } = await start(t, { queues: ["mail"] });
  await broker.setGate("smtp", { rate: 5 });
  const jobs = [1, 2, 3].map(() => ({ payload, fairnessKey: "acme" }));
  await broker.add("mail", jobs);
  const [job] = await broker.lease("mail", { max: 1 });
  await broker.ack([{ lease: job!.lease }]);
  const { body, headers } = await call("GET /metrics");
  assert.match(headers.get("content-type") ?? "", /^text\/plain/);
  const expected = [
    'sluice_queue_waiting{queue="mail"} 2',
    'sluice_jobs_added_total{queue="mail"} 3',
    'sluice_jobs_finished_total{queue="mail"} 1',
    'sluice_wait_seconds_count{queue="mail"} 1',
    'sluice_run_seconds_bucket{queue="mail",le="+Inf"} 1',
    "sluice_add_seconds_count 1",
    'sluice_lane_waiting{queue="mail",lane="acme",tier="3"} 2',
    'sluice_gate_tokens{gate="smtp"} 5',
    "# TYPE sluice_wait_seconds histogram",
    "# TYPE sluice_jobs_added_total counter",
  ];
  for (const line of expected) assert.ok(body.includes(line), `${line} in\n${body}`);
  for (const name of ["sluice_log_bytes", "nodejs_eventloop_lag_p99_seconds", "http_connections"]) {
    assert.match(body, new RegExp(`^${name} [0-9.e-]+$`, "m"), name);
  }
  const again = (await call("GET /metrics")).body as string;
  assert.match(again, /http_request_seconds_count\{.*route="\/metrics".*\} 1/);
  const series = again.split("\n").filter((line) => line.startsWith("sluice_queue_waiting{"));
  assert.equal(series.length, 1, "asking twice counts nothing twice");
});

test("the processor time of the process counts from its start", async (t) => {
  const { call } = await start(t);
  const { user, system } = process.cpuUsage();
  const body = (await call("GET /metrics")).body as string;
  const [, seconds] = /^process_cpu_seconds_total ([0-9.e-]+)$/m.exec(body) ?? [];
  assert.ok(Number(seconds) >= (user + system) / 1e6, `${seconds} s of ${user + system} µs`);
});

test("scripts, gates and redriven jobs are counted", async (t) => {
  const { broker, call } = await start(t);
  const lua = "function on_enqueue(m) if m.headers.bad then error('no') end return {} end";
  await broker.setQueue("mail", { policy: { lua }, retry: { attempts: 1 } });
  await broker.setGate("smtp", { concurrency: 1 });
  await broker.add("mail", [
    { payload, gates: ["smtp"] },
    { payload, gates: ["smtp"], headers: { bad: "1" } },
  ]);
  const [job] = await broker.lease("mail", { max: 2 });
  await broker.nack([{ lease: job!.lease, error: "boom" }]);
  await broker.redrive("mail.dlq");
  const { body } = await call("GET /metrics");
  const expected = [
    'sluice_jobs_redriven_total{queue="mail"} 1',
    'sluice_script_runs_total{queue="mail"} 2',
    'sluice_script_failures_total{queue="mail",reason="error"} 1',
    'sluice_script_failures_total{queue="mail",reason="killed"} 0',
    'sluice_script_failures_total{queue="mail",reason="timeout"} 0',
    'sluice_script_seconds_count{queue="mail"}',
    'sluice_script_resting{queue="mail"} 0',
    'sluice_gate_passed_total{gate="smtp"} 1',
    'sluice_gate_kept_total{gate="smtp",part="concurrency"}',
  ];
  for (const line of expected) assert.ok(body.includes(line), `${line} in\n${body}`);
});

test("the number of series stays bounded, whatever users do", async (t) => {
  const { broker, call } = await start(t);
  const count = METRIC_QUEUES_MAX + 20;
  for (let i = 0; i < count; i++) await broker.setQueue(`q${i}`, {});
  const jobs = Array.from({ length: 500 }, (_, i) => ({ payload, fairnessKey: `tenant-${i}` }));
  for (let i = 0; i < 15; i++) await broker.add(`q${i}`, jobs);
  for (let i = 0; i < 50; i++) await call(`GET /v1/jobs/none-${i}`);
  const text = (await call("GET /metrics")).body as string;
  const seriesOf = (name: string) =>
    text.split("\n").filter((line) => line.startsWith(`${name}{`)).length;
  assert.equal(seriesOf("sluice_queue_waiting"), METRIC_QUEUES_MAX + 1);
  assert.equal(seriesOf("sluice_lane_waiting"), 10 * METRIC_LANES_MAX);
  assert.equal(seriesOf("http_request_seconds_count"), 1, "one for each route and status");
  assert.match(text, /sluice_queue_waiting\{queue="\(others\)"\} 0/);
  assert.match(text, new RegExp(`^sluice_queues ${count}$`, "m"));
  await broker.deleteQueue("q0");
  assert.ok(!(await call("GET /metrics")).body.includes('queue="q0"'), "what is gone is gone");
});
