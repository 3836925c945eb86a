// The thread that reads documents, so that a large feed does not block the service.
import { parentPort } from "node:worker_threads";
import { readAnswer } from "../read-answer.ts";
import type { Release } from "../read-feed.ts";
import { XmlRefused } from "../refused.ts";
import type { More, Reply, Request } from "./message.ts";

const PIECE = 200;

// What is left to send of the answer under way.
let releases: Release[] = [];
let last: Reply | undefined;

function send(reply: Reply): void {
  parentPort!.postMessage(reply);
}

function sendNext(id: number): void {
  const piece = releases.splice(0, PIECE);
  if (piece.length > 0) return send({ id, releases: piece });
  if (last !== undefined) send(last);
  last = undefined;
}

function read(request: Request): void {
  const answer = readAnswer(request);
  releases = answer.kind === "feed" ? answer.feed.releases.splice(0) : [];
  last = { id: request.id, answer };
  sendNext(request.id);
}

parentPort!.on("message", (message: Request | More) => {
  if ("more" in message) return sendNext(message.more);
  try {
    read(message);
  } catch (error) {
    const refused =
      error instanceof XmlRefused
        ? { kind: error.kind, message: error.message }
        : { kind: "malformed" as const, message: "the document could not be read" };
    send({ id: message.id, refused });
  }
});
