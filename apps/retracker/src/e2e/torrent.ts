/** A torrent of one file, made here, so that nothing has to be parsed to know its hash. */
import { createHash, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { type Bencodable, encode } from "../wire/bencode.ts";

const PIECE_BYTES = 64 * 1024;

export interface Torrent {
  readonly name: string;
  readonly content: Buffer;
  /** 20 bytes, one per character. */
  readonly hash: string;
  readonly hex: string;
  /** The metainfo with one tracker in it. */
  metainfo(announce: string): Buffer;
}

export function makeTorrent(name: string, bytes: number): Torrent {
  const content = randomBytes(bytes);
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes; at += PIECE_BYTES) {
    pieces.push(sha1(content.subarray(at, at + PIECE_BYTES)));
  }
  const info = new Map<string, Bencodable>([
    ["length", bytes],
    ["name", name],
    ["piece length", PIECE_BYTES],
    ["pieces", Buffer.concat(pieces)],
  ]);
  const digest = sha1(encode(info));
  return {
    name,
    content,
    hash: digest.toString("latin1"),
    hex: digest.toString("hex"),
    metainfo: (announce) =>
      encode(
        new Map<string, Bencodable>([
          ["announce", announce],
          ["info", info],
        ]),
      ),
  };
}

function sha1(bytes: Buffer): Buffer {
  return createHash("sha1").update(bytes).digest();
}

export function writeTorrent(torrent: Torrent, file: string, announce: string): void {
  writeFileSync(file, torrent.metainfo(announce));
}
