// The thread that reads documents, so that a large feed holds up nobody.
import { parentPort } from "node:worker_threads";
import { readAnswer } from "../read-answer.ts";
import { XmlRefused } from "../refused.ts";
import type { Reply, Request } from "./message.ts";

const PIECE = 200;

function send(reply: Reply): void {
  parentPort!.postMessage(reply);
}

function read(request: Request): void {
  const answer = readAnswer(request);
  const releases = answer.kind === "feed" ? answer.feed.releases.splice(0) : [];
  for (let start = 0; start < releases.length; start += PIECE) {
    send({ id: request.id, releases: releases.slice(start, start + PIECE) });
  }
  send({ id: request.id, answer });
}

parentPort!.on("message", (request: Request) => {
  try {
    read(request);
  } catch (error) {
    const refused =
      error instanceof XmlRefused
        ? { kind: error.kind, message: error.message }
        : { kind: "malformed" as const, message: "the document could not be read" };
    send({ id: request.id, refused });
  }
});
