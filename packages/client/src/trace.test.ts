import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import * as api from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { openMail } from "./testing/open-mail.ts";
import { loadTracing, type OpenTelemetry } from "./trace.ts";

/** The real package is what the client takes it for. */
const asUsed: OpenTelemetry = api;

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({
  spanProcessors: [new SimpleSpanProcessor(exporter)],
});

function register(): void {
  api.trace.setGlobalTracerProvider(provider);
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  api.propagation.setGlobalPropagator(new W3CTraceContextPropagator());
}

beforeEach(() => exporter.reset());
after(() => provider.shutdown());

function span(name: string): ReadableSpan {
  const found = exporter.getFinishedSpans().find((one) => one.name === name);
  assert.ok(found, `no span ${name}`);
  return found;
}

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const GIVEN = `00-${TRACE}-b7ad6b7169203331-01`;

test("without a registered provider nothing is traced, and headers are passed on", async (t) => {
  assert.ok(await loadTracing(), "the package is installed here");
  assert.equal(typeof asUsed.context.active, "function");
  const { mail } = await openMail<number, object>(t);
  mail.work(({ headers }) => headers);
  assert.deepEqual(await (await mail.add(1)).finished(), {});
  const job = await mail.add(1, { headers: { traceparent: GIVEN } });
  assert.deepEqual(await job.finished(), { traceparent: GIVEN });
  assert.deepEqual(exporter.getFinishedSpans(), []);
});

test("a handler runs below the add that made its job, and the add below its caller", async (t) => {
  register();
  const { sluice, mail } = await openMail<number, string | undefined>(t);
  mail.work(() => api.trace.getActiveSpan()?.spanContext().spanId);
  const tracer = api.trace.getTracer("test");
  const job = await tracer.startActiveSpan("request", async (request) => {
    const added = await mail.add(1, { headers: { tenant: "acme" } });
    request.end();
    return added;
  });
  const seen = await job.finished();
  await sluice.drain();
  const [request, sent, run] = ["request", "send mail", "process mail"].map(span);
  assert.equal(sent?.parentSpanContext?.spanId, request?.spanContext().spanId);
  assert.equal(run?.parentSpanContext?.spanId, sent?.spanContext().spanId);
  assert.equal(run?.spanContext().traceId, request?.spanContext().traceId);
  assert.equal(seen, run?.spanContext().spanId, "what the handler does is below its span");
  assert.deepEqual([sent?.kind, run?.kind], [api.SpanKind.PRODUCER, api.SpanKind.CONSUMER]);
  assert.equal(run?.attributes["messaging.message.id"], job.id);
  const { headers } = await job.info();
  assert.deepEqual(Object.keys(headers).sort(), ["tenant", "traceparent"]);
});

test("a bulk add is one span, and a context that was given is left alone", async (t) => {
  register();
  const { sluice, mail } = await openMail<number>(t);
  mail.work(() => {}, { concurrency: 3 });
  const jobs = await mail.addBulk([
    { payload: 1 },
    { payload: 2, headers: { traceparent: GIVEN } },
    { payload: 3 },
  ]);
  await sluice.drain();
  const sends = exporter.getFinishedSpans().filter(({ name }) => name === "send mail");
  assert.equal(sends.length, 1);
  assert.equal(sends[0]?.attributes["messaging.batch.message_count"], 3);
  const given = jobs[1];
  assert.ok(given !== undefined && !(given instanceof Error));
  const runs = exporter.getFinishedSpans().filter(({ name }) => name === "process mail");
  const run = runs.find((one) => one.attributes["messaging.message.id"] === given.id);
  assert.equal(run?.spanContext().traceId, TRACE);
  const below = runs.filter(
    (one) => one.parentSpanContext?.spanId === sends[0]?.spanContext().spanId,
  );
  assert.equal(below.length, 2);
});

test("records a failure in its span, and the call fails as without tracing", async (t) => {
  register();
  const { sluice, mail } = await openMail<number>(t, { retry: { attempts: 1 } });
  mail.work(() => {
    throw new TypeError("boom");
  });
  await assert.rejects((await mail.add(1)).finished(), { reason: "TypeError: boom" });
  await assert.rejects(mail.add(1, { weight: 0 }), { code: "INVALID" });
  await assert.rejects(mail.add(1, { headers: 5 as never }), { code: "INVALID" });
  await sluice.drain();
  const { status, events } = span("process mail");
  assert.deepEqual(status, { code: api.SpanStatusCode.ERROR, message: "boom" });
  assert.equal(events[0]?.name, "exception");
  const failed = exporter.getFinishedSpans().filter(({ status: { code } }) => code === 2);
  assert.equal(failed.length, 3);
});
