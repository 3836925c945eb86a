// The reference of HTTP: the rules that all routes follow, and every route of a server.

import { CALL_TABLES, type CallRow } from "@sluice/protocol";
import { serve } from "@sluice/server";
import { Sluice } from "sluice";

const HEAD = `# HTTP

<!-- Made by \`npm run docs\` from the tables of calls and /openapi.json. Do not edit. -->

A server listens on port 7070 and speaks JSON. \`GET /openapi.json\` describes every route with its fields, for tools.
The arguments and answers of a call are in [calls](api.md), its options in [options](options.md).

## Rules of all routes

- **Keys.** With \`--keys\`, send \`Authorization: Bearer sk_...\` or \`X-API-Key\`. [Who may do what](../operating.md#keys).
- **Bodies** are JSON with \`Content-Type: application/json\`. A field that a route does not have is refused with \`INVALID\`.
- **Durations** are milliseconds or texts: \`"lease": "30s"\`. Times are milliseconds since 1970.
- **Payloads** are any JSON value, in \`payload\`. Bytes that are not JSON are base64 in \`payloadBase64\`, results in
  \`resultBase64\`.
- **Once.** With the header \`Idempotency-Key\` a repeated call takes effect once and gets its first answer, for ten minutes.
- **Batches** answer \`{ "results": [...] }\`: for each item \`{ "ok": ... }\` or \`{ "error": ... }\`, in the order of the items.
- **Lists** answer \`{ "items": [...], "cursor": "..." }\`. Pass \`cursor\` for the next page; without one, it was the last.
- **Waiting.** \`wait\` of a lease, and routes that end in \`/end\`, hold the request until there is an answer.
- **Errors** are \`{ "error": { "code", "message", "retryAfterMs?", "details?" } }\` with the [status of the code](errors.md).
  A 429 and a 503 have \`Retry-After\` if the server knows when to try again.
- **Limits.** [What a request may have](limits.md#requests-over-http).

\`\`\`sh
curl -X PUT  localhost:7070/v1/queues/mail -H 'content-type: application/json' -d '{}'
curl -X POST localhost:7070/v1/queues/mail/jobs -H 'content-type: application/json' -d '{"payload":{"to":"a@b.c"}}'
curl -X POST localhost:7070/v1/queues/mail/lease -H 'content-type: application/json' -d '{"wait":"10s"}'
curl -X POST localhost:7070/v1/ack -H 'content-type: application/json' -d '{"items":[{"lease":"a1.1"}]}'
\`\`\`

## Routes of calls

| route | call | |
|---|---|---|
`;

const OWN = `
## Other routes

| route | |
|---|---|
`;

/** An operation of the server's own description. */
interface Operation {
  readonly summary?: string;
}

export async function httpPage(): Promise<string> {
  const calls = Object.values(CALL_TABLES)
    .flatMap((table) => Object.entries(table as Readonly<Record<string, CallRow>>))
    .flatMap(([name, { http, says }]) => (http === undefined ? [] : [{ name, says, ...http }]));
  const rows = calls.map(({ name, route, says }) => {
    return `| \`${route}\` | [${name}](api.md#${name.toLowerCase()}) | ${firstOf(says)} |`;
  });
  const known = new Set<string>(calls.map(({ route }) => route));
  const others = (await servedRoutes()).filter(([route]) => !known.has(route));
  const own = others.map(([route, about]) => `| \`${route}\` | ${cell(about)} |`).sort();
  return `${HEAD}${rows.join("\n")}\n${OWN}${own.join("\n")}\n`;
}

/** What a server says of itself at /openapi.json. */
async function servedRoutes(): Promise<[route: string, about: string][]> {
  await using sluice = await Sluice.open({ durability: "memory" });
  const server = await serve({ broker: sluice.broker, log: "silent" });
  const { paths } = (await (await fetch(`${server.address}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, Operation>>;
  };
  await server.close();
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary = "" }]): [string, string] => {
      return [`${method.toUpperCase()} ${path.replace(/\{([^}]+)\}/g, ":$1")}`, summary];
    }),
  );
}

/** The first sentence. */
function firstOf(says: string): string {
  return cell(/^.*?\.(?= |$)/.exec(says)?.[0] ?? says);
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
