/** The body of an answer: unpacked, and never larger than wanted, however small it came. */
import type { IncomingMessage } from "node:http";
import type { Readable, Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { OutgoingError } from "./errors.ts";

const UNPACKERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

export async function readBody(
  incoming: IncomingMessage,
  bytesMax: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  // What is said is believed only when it is too much: the bytes are counted as they come.
  const stated = Number(incoming.headers["content-length"] ?? 0);
  if (stated > bytesMax) {
    incoming.destroy();
    throw new OutgoingError("size", `${stated} bytes are announced, ${bytesMax} wanted at most`);
  }
  const stream = unpack(incoming);
  const stop = (): void => {
    stream.destroy(signal.reason);
    incoming.destroy();
  };
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await gather(stream, bytesMax);
  } catch (error) {
    if (error instanceof OutgoingError || stream === incoming) throw error;
    throw new OutgoingError("encoding", `the body is damaged: ${(error as Error).message}`);
  } finally {
    signal.removeEventListener("abort", stop);
    stream.destroy();
    // A body that was read to its end leaves its socket to the next call.
    if (!incoming.complete) incoming.destroy();
  }
}

async function gather(stream: Readable, bytesMax: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of stream) {
    bytes += part.length;
    if (bytes > bytesMax) throw new OutgoingError("size", `more than ${bytesMax} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function unpack(incoming: IncomingMessage): Readable {
  const encoding = (incoming.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  if (encoding === "identity" || encoding === "") return incoming;
  const make = Object.hasOwn(UNPACKERS, encoding) ? UNPACKERS[encoding] : undefined;
  if (make === undefined) {
    incoming.destroy();
    throw new OutgoingError("encoding", `a body packed as ${encoding} is not unpacked`);
  }
  const unpacker = make();
  incoming.once("error", (error) => unpacker.destroy(error));
  // A connection that breaks in the middle need not be reported as an error.
  incoming.once("close", () => {
    if (!incoming.complete) unpacker.destroy(new Error("it broke off"));
  });
  return incoming.pipe(unpacker);
}
