/**
 * The dashboard's files. They are the same for all and hold no data, so they need no
 * key; what the page shows it asks the API for. It runs only scripts of its own, loads nothing
 * from elsewhere and cannot be framed.
 */
import { loadPage, type PageFile } from "@sluice/dashboard";
import { SluiceError } from "@sluice/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { route } from "./route.ts";
import { content, object, TEXT } from "./shapes.ts";

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const response = content("text/html", "A file of the dashboard.");
const config = { isPublic: true };

export function dashboardRoutes(app: FastifyInstance): void {
  let page: Promise<ReadonlyMap<string, PageFile>> | undefined;
  const send = async (
    path: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    page ??= loadPage();
    page.catch(() => {
      page = undefined;
    });
    const file = (await page).get(path);
    if (file !== undefined) return sendFile(file, request, reply);
    throw new SluiceError("NOT_FOUND", "the dashboard has no such file", { field: "file" });
  };
  route(app, "GET /", {
    about: ["getDashboard", "dashboard", "The dashboard, for a browser"],
    response,
    config,
    handler: (request, reply) => send("index.html", request, reply),
  });
  const file = "A script, a style or a picture of the dashboard";
  route<{ Params: { file: string } }>(app, "GET /assets/:file", {
    about: ["getDashboardFile", "dashboard", file],
    params: object({ file: TEXT }, ["file"]),
    response,
    config,
    handler: (request, reply) => send(`assets/${request.params.file}`, request, reply),
  });
}

function sendFile(file: PageFile, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.header("content-security-policy", POLICY);
  reply.header("referrer-policy", "no-referrer");
  reply.header("cross-origin-opener-policy", "same-origin");
  // A file with a hash in its name never changes; the page itself may at any time.
  const age = file.isHashed ? "public, max-age=31536000, immutable" : "no-cache";
  reply.header("cache-control", age);
  reply.header("etag", file.etag);
  reply.header("vary", "accept-encoding");
  if (request.headers["if-none-match"] === file.etag) return reply.code(304).send();
  reply.type(file.type);
  const accepted = request.headers["accept-encoding"] ?? "";
  if (!/\bgzip\b/.test(String(accepted))) return reply.send(file.body);
  return reply.header("content-encoding", "gzip").send(file.gzip);
}
