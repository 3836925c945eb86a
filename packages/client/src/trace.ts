/**
 * Traces of OpenTelemetry, where it is installed. An add is a producer span, and its W3C context
 * (`traceparent`, `tracestate`) travels in the job's headers; each run of a handler is a consumer
 * span below it, in whatever process and however much later.
 *
 * Nothing depends on the package: the client looks for it once. While no provider is registered, an
 * add and a run pay for one look. A `traceparent` that the user gives is left alone.
 */
import type { NewJob } from "@sluice/protocol";
import type { WorkJob } from "./work-job.ts";

/** What is used of `@opentelemetry/api`. Its own types are only there where it is installed. */
export interface OpenTelemetry {
  readonly ROOT_CONTEXT: Context;
  readonly SpanKind: { readonly PRODUCER: number; readonly CONSUMER: number };
  readonly SpanStatusCode: { readonly ERROR: number };
  readonly context: { active(): Context; with<T>(context: Context, run: () => T): T };
  readonly propagation: {
    inject(context: Context, carrier: object): void;
    extract(context: Context, carrier: object): Context;
  };
  readonly trace: {
    getTracerProvider(): TracerProvider;
    setSpan(context: Context, span: Span): Context;
  };
}

/** As the API has it; here it is only passed on. */
interface Context {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): Context;
  deleteValue(key: symbol): Context;
}

interface TracerProvider {
  getTracer(name: string): Tracer;
  /** Of the API's own provider: undefined while no other one is registered. */
  getDelegateTracer?(name: string): Tracer | undefined;
}

interface Tracer {
  startSpan(name: string, options: object, context: Context): Span;
}

interface Span {
  setStatus(status: { code: number; message?: string }): unknown;
  recordException(error: Error): void;
  end(): void;
}

const TRACER = "sluice";
const LOOKS_PER_SEARCH = 1_000;

/** A handler: the job is its own context too. */
type Run<J, T> = (job: J, context: J) => T | Promise<T>;

/** What of a context travels. Baggage does not: it may be larger than a job's headers. */
const CARRIED = ["traceparent", "tracestate"] as const;

/** The longest state that others must pass on, by the standard. */
const TRACESTATE_CHARS_MAX = 512;

export class Tracing {
  readonly #api: OpenTelemetry;
  #provider: TracerProvider | undefined = undefined;
  #tracer: Tracer | undefined = undefined;
  #looks = 0;

  constructor(api: OpenTelemetry) {
    this.#api = api;
  }

  /** An add begins; undefined when nothing is traced. */
  sending(queue: string, count: number): Sending | undefined {
    const tracer = this.#find();
    if (tracer === undefined) return undefined;
    const { context, SpanKind, trace } = this.#api;
    const attributes = {
      ...attributesOf("send", queue),
      ...(count === 1 ? {} : { "messaging.batch.message_count": count }),
    };
    const options = { kind: SpanKind.PRODUCER, attributes };
    const span = tracer.startSpan(`send ${queue}`, options, context.active());
    return new Sending(this.#api, span, trace.setSpan(context.active(), span));
  }

  /** Runs a handler inside a span that continues the trace of its job. */
  run<J extends WorkJob<unknown>, T>(job: J, handler: Run<J, T>): T | Promise<T> {
    const tracer = this.#find();
    return tracer === undefined ? handler(job, job) : this.#run(tracer, job, handler);
  }

  async #run<J extends WorkJob<unknown>, T>(
    tracer: Tracer,
    job: J,
    handler: Run<J, T>,
  ): Promise<T> {
    const { context, propagation, ROOT_CONTEXT, SpanKind, trace } = this.#api;
    const sent = propagation.extract(ROOT_CONTEXT, job.headers);
    const attributes = {
      ...attributesOf("process", job.queue),
      "messaging.message.id": job.id,
      "sluice.attempt": job.attempt,
    };
    const options = { kind: SpanKind.CONSUMER, attributes };
    const span = tracer.startSpan(`process ${job.queue}`, options, sent);
    try {
      return await context.with(trace.setSpan(sent, span), () => handler(job, job));
    } catch (error) {
      fail(this.#api, span, error);
      throw error;
    } finally {
      span.end();
    }
  }

  /**
   * The tracer, once there is one: a provider may be registered long after this was loaded. The
   * API's own provider passes on to it, so that is asked each time; finding it takes longer, and
   * another one only comes with another copy of the API.
   */
  #find(): Tracer | undefined {
    if (this.#tracer !== undefined) return this.#tracer;
    if (this.#looks++ % LOOKS_PER_SEARCH === 0) {
      this.#provider = this.#api.trace.getTracerProvider();
    }
    const provider = this.#provider!;
    this.#tracer =
      provider.getDelegateTracer === undefined
        ? provider.getTracer(TRACER)
        : provider.getDelegateTracer(TRACER);
    return this.#tracer;
  }
}

/** One add on its way. */
export class Sending {
  readonly #api: OpenTelemetry;
  readonly #span: Span;
  readonly #context: Context;

  constructor(api: OpenTelemetry, span: Span, context: Context) {
    this.#api = api;
    this.#span = span;
    this.#context = context;
  }

  /** The jobs carry the context, but for those that were given one. */
  mark(jobs: readonly NewJob[]): void {
    const headers = this.#headers();
    if (headers === undefined) return;
    for (const job of jobs) {
      // What is no object of headers, the broker refuses.
      if (typeof (job.headers ?? headers) !== "object") continue;
      if (job.headers?.traceparent === undefined) job.headers = { ...job.headers, ...headers };
    }
  }

  /** The add is answered, for better or worse. */
  async over<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      fail(this.#api, this.#span, error);
      throw error;
    } finally {
      this.#span.end();
    }
  }

  #headers(): Record<string, string> | undefined {
    const carrier: Record<string, unknown> = {};
    this.#api.propagation.inject(this.#context, carrier);
    const headers: Record<string, string> = {};
    for (const name of CARRIED) {
      const value = carrier[name];
      if (typeof value === "string" && value.length <= TRACESTATE_CHARS_MAX) headers[name] = value;
    }
    return headers.traceparent === undefined ? undefined : headers;
  }
}

function attributesOf(operation: string, queue: string): Record<string, string | number> {
  return {
    "messaging.system": "sluice",
    "messaging.operation.type": operation,
    "messaging.operation.name": operation,
    "messaging.destination.name": queue,
  };
}

function fail({ SpanStatusCode }: OpenTelemetry, span: Span, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  span.recordException(error as Error);
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}

/** Not known to bundlers, which would miss it where it is not installed. */
const PACKAGE: string = "@opentelemetry/api";

let loading: Promise<Tracing | undefined> | undefined;

/** Undefined where OpenTelemetry is not installed. It is looked for once. */
export function loadTracing(): Promise<Tracing | undefined> {
  loading ??= import(/* @vite-ignore */ PACKAGE).then(
    (api: OpenTelemetry) => new Tracing(api),
    () => undefined,
  );
  return loading;
}
