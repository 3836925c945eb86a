// A small client of the job server, with nothing but fetch. Copy it into your program.

export interface SubmitOptions {
  workerId?: string;
  timeoutSeconds?: number;
  idempotencyKey?: string;
  callbackUrl?: string;
}

export interface JobEvent {
  uid: string;
  type: string;
  status: string;
  error?: string;
}

export class JobError extends Error {
  readonly code: string;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: string, message: string, retryAfterSeconds?: number) {
    super(`${code}: ${message}`);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export class JobClient {
  readonly #address: string;
  readonly #headers: Record<string, string>;

  constructor(address: string, key?: string) {
    this.#address = address.replace(/\/$/, "");
    this.#headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  }

  // Answers the job's uid once it is durable. A full server is asked again when it says so.
  async submit(type: string, args: unknown, options: SubmitOptions = {}): Promise<string> {
    const job = {
      type,
      arguments: args,
      worker_id: options.workerId,
      timeout_seconds: options.timeoutSeconds,
      idempotency_key: options.idempotencyKey,
      callback_url: options.callbackUrl,
    };
    for (let attempt = 0; ; attempt++) {
      try {
        return (await this.#call<{ uid: string }>("POST", "/job/add", job)).uid;
      } catch (error) {
        const wait = error instanceof JobError ? error.retryAfterSeconds : undefined;
        if (wait === undefined || attempt === 5) throw error;
        await new Promise((resolve) => setTimeout(resolve, wait * 1000));
      }
    }
  }

  // Waits for the end of a job, however long it takes; throws when it ended without a result.
  async result(uid: string): Promise<unknown> {
    for (;;) {
      const path = `/job/result/${uid}?wait_seconds=30`;
      const { status, data, error } = await this.#call<Ended>("GET", path);
      if (status === "succeeded") return data;
      if (status !== "queued" && status !== "running") throw new JobError(status, error ?? "");
    }
  }

  async cancel(uid: string): Promise<boolean> {
    return (await this.#call<{ cancelled: boolean }>("DELETE", `/job/${uid}`)).cancelled;
  }

  // What happens to this submitter's jobs, from now on.
  async *events(signal: AbortSignal): AsyncGenerator<JobEvent> {
    const answer = await fetch(`${this.#address}/job/events`, { headers: this.#headers, signal });
    if (!answer.ok || answer.body === null) throw await errorOf(answer);
    let text = "";
    for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
      text += part;
      const messages = text.split("\n\n");
      text = messages.pop() ?? "";
      for (const message of messages) {
        const data = /^data: (.*)$/m.exec(message)?.[1];
        if (data !== undefined) yield JSON.parse(data) as JobEvent;
      }
    }
  }

  async #call<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await fetch(this.#address + path, {
      method,
      headers: {
        ...this.#headers,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw await errorOf(answer);
    return (await answer.json()) as Answer;
  }
}

interface Ended {
  status: string;
  data: unknown;
  error: string | null;
}

async function errorOf(answer: Response): Promise<JobError> {
  const body = (await answer.json().catch(() => ({}))) as { error?: Record<string, string> };
  const { code = `HTTP ${answer.status}`, message = answer.statusText } = body.error ?? {};
  const wait = answer.headers.get("retry-after");
  return new JobError(code, message, wait === null ? undefined : Number(wait));
}
