/** A download goes to the client: the file, or a redirect to the magnet link that stands for it. */
import type { FastifyReply } from "fastify";
import type { Downloaded } from "../client/torznab-client.ts";

export function sendDownload(reply: FastifyReply, indexer: string, file: Downloaded): FastifyReply {
  if (file.kind === "magnet") return reply.redirect(file.magnet, 302);
  // Whatever the indexer calls it: a browser must not take it for a page of ours.
  const name = `attachment; filename="${indexer}.${file.type}"`;
  const type = file.type === "nzb" ? "application/x-nzb" : "application/x-bittorrent";
  reply.type(type).header("content-disposition", name);
  return reply.send(Buffer.from(file.bytes));
}
