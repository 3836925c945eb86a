// An indexer as a real server on a real socket, with faults that a test switches on.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import {
  type Answer,
  capsAnswer,
  type Dialect,
  errorAnswer,
  feedAnswer,
  type SampleItem,
} from "./dialects.ts";

export type FaultName = keyof typeof FAULTS;

export interface IndexerServerOptions {
  dialect?: Dialect;
  apiKey?: string;
  items?: SampleItem[];
  /** It honours `limit` and `offset`. */
  isPaging?: boolean;
  /** What its download links lead to. */
  file?: Uint8Array;
  /** What its feeds say that there is in all. */
  total?: number;
}

export class IndexerServer {
  readonly dialect: Dialect;
  readonly apiKey: string;
  readonly #options: IndexerServerOptions;
  items: SampleItem[];
  fault: FaultName | undefined = undefined;
  /** Only for requests of this function. */
  faultOn: string | undefined = undefined;
  readonly requests: { t: string; params: URLSearchParams; at: number }[] = [];
  #server: Server;
  /** Requests at once, and the most there ever were. */
  atOnce = 0;
  mostAtOnce = 0;

  private constructor(options: IndexerServerOptions) {
    const { dialect = "jackett", apiKey = "", items = [] } = options;
    this.#options = options;
    this.dialect = dialect;
    this.apiKey = apiKey;
    this.items = items;
    this.#server = createServer((request, response) => this.#serve(request, response));
  }

  static async open(options: IndexerServerOptions = {}): Promise<IndexerServer> {
    const server = new IndexerServer(options);
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  // What a user copies from that program.
  get url(): string {
    const paths = {
      jackett: "/api/v2.0/indexers/some/results/torznab/",
      prowlarr: "/1/api",
      newznab: "",
    };
    return this.origin + paths[this.dialect];
  }

  count(t: string): number {
    return this.requests.filter((request) => request.t === t).length;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url!, this.origin);
    const t = url.searchParams.get("t") ?? url.pathname.split("/")[1]!;
    this.requests.push({ t, params: url.searchParams, at: Date.now() });
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.atOnce);
    response.on("close", () => this.atOnce--);
    const isFaulty = this.fault !== undefined && (this.faultOn ?? t) === t;
    if (isFaulty) FAULTS[this.fault!](response);
    else if (url.searchParams.get("t") === null) this.#download(url, response);
    else send(response, this.#answer(t, url.searchParams));
  }

  #download({ pathname }: URL, response: ServerResponse): void {
    if (pathname.includes("magnet")) {
      response.writeHead(302, { location: "magnet:?xt=urn:btih:aaaa" }).end();
      return;
    }
    response.writeHead(200, { "content-type": "application/x-bittorrent" });
    response.end(this.#options.file ?? "d4:infoe");
  }

  #answer(t: string, params: URLSearchParams): Answer {
    if (this.apiKey !== "" && params.get("apikey") !== this.apiKey) {
      return errorAnswer(100, `Invalid API Key ${params.get("apikey")}`, 200);
    }
    if (t === "caps") return capsAnswer(this.dialect);
    const q = params.get("q")?.toLowerCase() ?? "";
    const items = this.items.filter(({ title }) => title.toLowerCase().includes(q));
    const { isPaging = false, total } = this.#options;
    const offset = Number(params.get("offset") ?? 0);
    const end = offset + Number(params.get("limit") ?? 50);
    const answer = feedAnswer(
      this.dialect,
      isPaging ? items.slice(offset, end) : items,
      this.origin,
    );
    const said =
      total === undefined ? "" : `<torznab:response offset="${offset}" total="${total}"/>`;
    const body = String(answer.body).replace("<channel>", `<channel>${said}`);
    return { ...answer, body: body.replaceAll("KEY", this.apiKey) };
  }
}

function send(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, headers).end(body);
}

type Fault = (response: ServerResponse) => unknown;

const say =
  (answer: Answer): Fault =>
  (response) =>
    send(response, answer);
const xml = (body: string | Uint8Array, headers: Record<string, string> = {}): Fault =>
  say({ status: 200, headers: { "content-type": "text/xml", ...headers }, body });

// Writes without end, or until the other end closes.
function pour(response: ServerResponse, head: string, piece: string, everyMs: number): void {
  response.writeHead(200, { "content-type": "text/xml" });
  response.write(head);
  const more = (): void => {
    if (response.destroyed) return;
    if (everyMs > 0) timer = setTimeout(more, everyMs);
    if (!response.write(piece)) response.once("drain", () => everyMs > 0 || more());
    else if (everyMs === 0) setImmediate(more);
  };
  let timer: NodeJS.Timeout | undefined;
  response.on("close", () => clearTimeout(timer));
  more();
}

const BOMB = `<?xml version="1.0"?><!DOCTYPE b [<!ENTITY a "aaaaaaaaaa">${Array.from(
  { length: 9 },
  (_, i) => `<!ENTITY a${i} "${`&a${i === 0 ? "" : i - 1};`.repeat(10)}">`,
).join("")}]><rss><channel><title>&a8;</title></channel></rss>`;

export const FAULTS = {
  html: say({
    status: 200,
    headers: { "content-type": "text/html" },
    body: "<!DOCTYPE html><html><head><title>Just a moment...</title></head></html>",
  }),
  doctype: xml('<?xml version="1.0"?><!DOCTYPE rss SYSTEM "http://127.0.0.1/x"><rss></rss>'),
  bomb: xml(BOMB),
  references: xml(`<rss><channel><title>${"&#65;".repeat(200_000)}</title></channel></rss>`),
  deep: xml("<a>".repeat(10_000) + "</a>".repeat(10_000)),
  many: xml(`<rss><channel>${"<item/>".repeat(150_000)}</channel></rss>`),
  huge: (response) => pour(response, "<rss><channel>", "<item/>".repeat(10_000), 0),
  endless: (response) => pour(response, "<rss><channel>", " ", 50),
  silent: () => {},
  broken: (response) => {
    response.writeHead(200, { "content-length": "10000" });
    response.write("<rss><channel>");
    setImmediate(() => response.destroy());
  },
  unknownCharset: xml('<?xml version="1.0" encoding="klingon"?><rss/>'),
  wrongCharset: xml(
    Buffer.from(
      "<rss><channel><item><title>caf\xe9 \x01</title><guid>g</guid></item></channel></rss>",
      "latin1",
    ),
  ),
  nzb: xml(
    `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE nzb PUBLIC "-//newzBin//DTD NZB 1.1//EN" "http://www.newzbin.com/DTD/nzb/nzb-1.1.dtd">
<nzb xmlns="http://www.newzbin.com/DTD/2003/nzb"><file subject="a"></file></nzb>`,
  ),
  malformed: xml("<rss><channel><item></channel></rss>"),
  empty: xml(""),
  json: say({ status: 200, headers: { "content-type": "application/json" }, body: '{"a":1}' }),
  gzipBomb: xml(gzipSync(Buffer.alloc(100 * 1024 * 1024, 32)), { "content-encoding": "gzip" }),
  brotli: xml("x", { "content-encoding": "br" }),
  badKey: say(errorAnswer(100, "Invalid API Key", 200)),
  suspended: say(errorAnswer(101, "Account suspended", 403)),
  wrongParameter: say(errorAnswer(201, "Incorrect parameter", 200)),
  noFunction: say(errorAnswer(203, "Function not available", 400)),
  gone: say(errorAnswer(300, "No such item", 200)),
  unknown: say(errorAnswer(900, "Unknown error", 400)),
  requestLimit: say(errorAnswer(500, "Request limit reached (100/100)", 200)),
  apiDisabled: say(errorAnswer(910, "API disabled", 200)),
  limitInWords: say(errorAnswer(900, "Daily API limit exceeded, rate limit", 200)),
  jackett429: say({ ...errorAnswer(900, "Too many", 429), headers: { "retry-after": "120" } }),
  prowlarr429: say({ ...errorAnswer(429, "Query limit", 429), headers: { "retry-after": "600" } }),
  retryDate: (response) => {
    const date = new Date(Date.now() + 1_800_000).toUTCString();
    send(response, { status: 503, headers: { "retry-after": date }, body: "" });
  },
  retryPast: say({
    status: 429,
    headers: { "retry-after": "Sun, 06 Nov 1994 08:49:37 GMT" },
    body: "",
  }),
  retryTenYears: say({ status: 429, headers: { "retry-after": "315360000" }, body: "" }),
  retryNonsense: say({ status: 429, headers: { "retry-after": "soon" }, body: "" }),
  http500: say({ status: 500, body: "oops" }),
  http404: say({ status: 404, body: "nothing here" }),
  loop: (response) => response.writeHead(302, { location: "?again" }).end(),
  toMagnet: (response) => response.writeHead(302, { location: "magnet:?xt=urn:btih:abc" }).end(),
  repeatsFormerKey: say(errorAnswer(900, "no such key: the-former-key", 200)),
  toMetadata: (response) =>
    response.writeHead(302, { location: "http://169.254.169.254/latest" }).end(),
  toLoopback: (response) => response.writeHead(302, { location: "http://0x7f000001/x" }).end(),
} satisfies Record<string, Fault>;

export function sampleItems(from: string, count: number): SampleItem[] {
  return Array.from({ length: count }, (_, i) => ({
    title: `${from} Release ${i} &amp; more`,
    guid: `${from}-${i}`,
    sizeBytes: 1_000_000 + i,
    seeders: i,
    peers: i + 3,
    category: 2040,
  }));
}
