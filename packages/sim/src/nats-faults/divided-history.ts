// A log in NATS of which one server has kept another history: every message is whole and in its
// place, and one has other facts than those that were confirmed.

import assert from "node:assert/strict";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { jetstreamManager } from "@nats-io/jetstream";
import { connectNats, NatsLog } from "@sluice/log/nats";
import { NatsServers } from "@sluice/log/testing";

const STREAM = "divided";
const BATCHES = 8;
const CURRENT_MS = 30_000;
const LOOK_MS = 100;

export type NatsCode = Pick<typeof import("@sluice/log/nats"), "NatsLog" | "connectNats">;

export class DividedHistory {
  // Three servers, of which one follower has the other history; and one that has it alone.
  readonly #three: NatsServers;
  readonly #alone: NatsServers;
  readonly #confirmed: string[] = [];

  private constructor(three: NatsServers, alone: NatsServers) {
    this.#three = three;
    this.#alone = alone;
  }

  static async make(): Promise<DividedHistory> {
    const three = await NatsServers.start({ count: 3 });
    const alone = await NatsServers.start({ count: 1 });
    const history = new DividedHistory(three, alone);
    try {
      await history.#divide(await history.#write());
      return history;
    } catch (error) {
      await history.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await Promise.all([this.#three.stop(), this.#alone.stop()]);
  }

  // Where the leader has the confirmed history: what was wrong with what was read, if anything.
  withOtherFollower(code: NatsCode): Promise<string | undefined> {
    return this.#read(code, this.#three);
  }

  // Where the leader itself has the other one: undefined when it was refused.
  async withOtherLeader(code: NatsCode): Promise<string | undefined> {
    const found = await this.#read(code, this.#alone);
    return found?.startsWith("LOG_DAMAGED") ? undefined : (found ?? "it was served");
  }

  async #read({ NatsLog: log, connectNats: connect }: NatsCode, from: NatsServers) {
    const connection = await connect(from.urls);
    try {
      const opened = await log.read({ connection, stream: STREAM });
      const facts: string[] = [];
      for await (const batch of opened.replay()) facts.push(Buffer.from(batch.facts).toString());
      await opened.close();
      if (facts.join() === this.#confirmed.join()) return undefined;
      return `${facts.join()} in place of ${this.#confirmed.join()}`;
    } catch (error) {
      return `${(error as { code?: string }).code}: ${(error as Error).message}`;
    } finally {
      await connection.close();
    }
  }

  // Answers the messages of the stream.
  async #write(): Promise<Uint8Array[]> {
    const connection = await connectNats(this.#three.urls);
    try {
      const log = await NatsLog.open({ connection, stream: STREAM, replicas: 3 });
      for await (const _ of log.replay());
      for (let i = 0; i < BATCHES; i++) {
        const text = `batch ${i}`;
        await log.append(Buffer.from(text));
        this.#confirmed.push(text);
      }
      await log.close();
      const { streams } = await jetstreamManager(connection);
      const { state } = await streams.info(STREAM);
      const messages: Uint8Array[] = [];
      for (let seq = 1; seq <= state.last_seq; seq++) {
        messages.push((await streams.getMessage(STREAM, { seq }))!.data);
      }
      return messages;
    } finally {
      await connection.close();
    }
  }

  // The same stream with other facts in one message, on a server of its own; then a follower of the
  // three gets its files.
  async #divide(messages: readonly Uint8Array[]): Promise<void> {
    const connection = await connectNats(this.#alone.urls);
    const at = messages.findIndex((message) => Buffer.from(message).includes("batch 3"));
    try {
      const manager = await jetstreamManager(connection);
      const log = await NatsLog.follow({ connection, stream: STREAM });
      await log.close();
      for (const [i, message] of messages.entries()) {
        const bytes = i === at ? withOtherFacts(message) : message;
        await manager.jetstream().publish(`sluice.log.${STREAM}`, bytes);
      }
    } finally {
      await connection.close();
    }
    await this.#alone.kill(0, "SIGTERM");
    const leader = await this.#three.streamLeader(STREAM);
    const follower = [0, 1, 2].find((index) => index !== leader)!;
    await this.#three.kill(follower, "SIGTERM");
    const files = (servers: NatsServers, index: number): string =>
      join(servers.storeOf(index), "jetstream", "$G", "streams", STREAM, "msgs");
    rmSync(files(this.#three, follower), { recursive: true });
    cpSync(files(this.#alone, 0), files(this.#three, follower), { recursive: true });
    await Promise.all([this.#three.restart(follower), this.#alone.restart(0)]);
    await Promise.all([this.#three.ready(), this.#alone.ready()]);
    await this.#current(follower);
  }

  // The follower takes part again, and does not lead.
  async #current(follower: number): Promise<void> {
    const connection = await connectNats(this.#three.urls);
    try {
      const { streams } = await jetstreamManager(connection);
      const endAt = Date.now() + CURRENT_MS;
      for (;;) {
        const info = await streams.info(STREAM).catch(() => undefined);
        const replicas = info?.cluster?.replicas ?? [];
        if (replicas.length === 2 && replicas.every(({ current }) => current)) break;
        if (Date.now() > endAt) throw new Error("the follower does not catch up");
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
      assert.notEqual(await this.#three.streamLeader(STREAM), follower);
    } finally {
      await connection.close();
    }
  }
}

// Its checksum is right, so nothing in the message itself says that it is another one.
function withOtherFacts(message: Uint8Array): Uint8Array {
  const bytes = Buffer.from(message);
  bytes[bytes.length - 1]! += 1;
  bytes.writeUInt32LE(crc32(bytes.subarray(4)), 0);
  return bytes;
}
