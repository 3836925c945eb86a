/** The first two frames of a connection: who is there, and what may be said. */
import { SluiceError } from "../errors.ts";
import { HELLO_BYTES_MAX, WIRE_VERSION } from "../limits.ts";
import { KIND } from "./kinds.ts";
import type { FrameReader } from "./reader.ts";
import { malformed } from "./refuse.ts";
import type { FrameWriter } from "./writer.ts";

/** "SLUI": a client that does not begin with it speaks another protocol. */
const MAGIC = 0x49554c53;

export interface Hello {
  version: number;
  apiKey: string | undefined;
  /** For people who look at the connections of a server. */
  client: string;
  /** The session that was interrupted; empty: a new one. */
  session: string;
  /** Messages of that session that have come. */
  received: number;
  /** It can be interrupted and gone on with: both ends keep what was not received. */
  isResumable: boolean;
}

export interface Welcome {
  version: number;
  server: string;
  session: string;
  /** Whether it is the session that was asked for. */
  isResumed: boolean;
  received: number;
  /** How long a session outlives its connection. */
  resumeMs: number;
  /** How often something must be heard of the other end. */
  heartbeatMs: number;
}

const RESUMABLE = 1;
const KEY = 2;
const RESUMED = 1;

export function writeHello(writer: FrameWriter, hello: Hello): void {
  const { version, apiKey, client, session, received, isResumable } = hello;
  writer.begin(KIND.hello, 0);
  writer.u32(MAGIC);
  writer.u16(version);
  writer.u8((isResumable ? RESUMABLE : 0) | (apiKey === undefined ? 0 : KEY));
  if (apiKey !== undefined) writer.text(apiKey);
  writer.text(client);
  writer.short(session);
  writer.f64(received);
  writer.end();
}

/** Reads the reader's current frame, which must be a greeting of this version. */
export function readHello(reader: FrameReader): Hello {
  if (reader.kind !== KIND.hello) throw malformed("no greeting", 0);
  if (reader.left > HELLO_BYTES_MAX) throw malformed(`a greeting of ${reader.left} bytes`, 0);
  if (reader.u32() !== MAGIC) throw malformed("no greeting of Sluice", 0);
  const version = reader.u16();
  // What follows may look different in another version.
  if (version !== WIRE_VERSION) throw otherVersion(version);
  const flags = reader.flags(RESUMABLE | KEY);
  const apiKey = (flags & KEY) === 0 ? undefined : reader.text();
  const hello = {
    version,
    apiKey,
    client: reader.text(),
    session: reader.short(),
    received: readCount(reader),
    isResumable: (flags & RESUMABLE) !== 0,
  };
  reader.done();
  return hello;
}

export function writeWelcome(writer: FrameWriter, welcome: Welcome): void {
  writer.begin(KIND.welcome, 0);
  writer.u32(MAGIC);
  writer.u16(welcome.version);
  writer.u8(welcome.isResumed ? RESUMED : 0);
  writer.text(welcome.server);
  writer.short(welcome.session);
  writer.f64(welcome.received);
  writer.u32(welcome.resumeMs);
  writer.u32(welcome.heartbeatMs);
  writer.end();
}

export function readWelcome(reader: FrameReader): Welcome {
  if (reader.u32() !== MAGIC) throw malformed("no greeting of Sluice", 0);
  const version = reader.u16();
  if (version !== WIRE_VERSION) throw otherVersion(version);
  const flags = reader.flags(RESUMED);
  const welcome = {
    version,
    server: reader.text(),
    session: reader.short(),
    isResumed: (flags & RESUMED) !== 0,
    received: readCount(reader),
    resumeMs: reader.u32(),
    heartbeatMs: reader.u32(),
  };
  reader.done();
  return welcome;
}

/** A number of messages. */
export function readCount(reader: FrameReader): number {
  const count = reader.f64();
  if (!Number.isSafeInteger(count) || count < 0) reader.fail(`the number of messages ${count}`);
  return count;
}

function otherVersion(version: number): SluiceError {
  const message = `version must be ${WIRE_VERSION}, as in this program, got ${version}`;
  return new SluiceError("INVALID", message, { field: "version", value: version });
}
