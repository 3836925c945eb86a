/** A tracker on a real socket that gives the answers that a test sets. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import { eachPair, unescapeBytes } from "../http/query.ts";
import { type Bencodable, encode } from "../wire/bencode.ts";

export interface Asked {
  readonly path: string;
  /** Values of the query, unescaped, one character per byte. */
  readonly fields: ReadonlyMap<string, string>;
  readonly headers: IncomingMessage["headers"];
}

export interface Said {
  status?: number;
  headers?: Record<string, string>;
  body?: Buffer;
}

export class HttpUpstream implements AsyncDisposable {
  readonly asked: Asked[] = [];
  #server: Server | undefined = undefined;
  #port = 0;
  /** What is said to each request; a promise keeps the other side waiting. */
  answer: (asked: Asked) => Said | Promise<Said> = () => told({ peers: "" });

  static async open(answer?: (asked: Asked) => Said | Promise<Said>): Promise<HttpUpstream> {
    const upstream = new HttpUpstream();
    if (answer !== undefined) upstream.answer = answer;
    await upstream.start();
    return upstream;
  }

  get uri(): string {
    return `http://127.0.0.1:${this.#port}/announce`;
  }

  /** The names of the events that came, in order. */
  get events(): string[] {
    return this.asked.map(({ fields }) => fields.get("event") ?? "");
  }

  /** Listens, on the port it had before when it had one. */
  async start(): Promise<void> {
    this.#server = createServer(async (request, response) => {
      const [path = "", query = ""] = (request.url ?? "").split("?");
      const fields = new Map<string, string>();
      eachPair(query, (name, raw) => fields.set(name, unescapeBytes(raw) ?? ""));
      const asked = { path, fields, headers: request.headers };
      this.asked.push(asked);
      const { status = 200, headers = {}, body = Buffer.alloc(0) } = await this.answer(asked);
      response.writeHead(status, headers).end(body);
    });
    await new Promise<void>((done) => this.#server!.listen(this.#port, "127.0.0.1", done));
    this.#port = (this.#server.address() as { port: number }).port;
  }

  async stop(): Promise<void> {
    this.#server!.closeAllConnections();
    await new Promise((done) => this.#server!.close(done));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server?.listening) await this.stop();
  }
}

/** A good answer with these fields. */
export function told(fields: Record<string, Bencodable>): Said {
  return {
    body: encode(new Map<string, Bencodable>([["interval", 1800], ...Object.entries(fields)])),
  };
}

export function failing(reason: string, retryIn?: Bencodable): Said {
  const fields: [string, Bencodable][] = [["failure reason", reason]];
  if (retryIn !== undefined) fields.push(["retry in", retryIn]);
  return { body: encode(new Map(fields)) };
}
