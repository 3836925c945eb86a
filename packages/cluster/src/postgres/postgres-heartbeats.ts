import { createHash } from "node:crypto";
import type { Heartbeats } from "../heartbeats/heartbeats.ts";
import { NOTICE_BYTES_MAX } from "./limits.ts";
import type { Notices } from "./notices.ts";

/** The last parts of beats that are not whole yet: few, and never many from one node. */
const OPEN_MAX = 1000;

/**
 * Heartbeats as notices of PostgreSQL: they are stored nowhere and cost no write to its disk. One
 * that is longer than a notice can be is sent in parts.
 */
export class PostgresHeartbeats implements Heartbeats {
  readonly #notices: Notices;
  readonly #channel: string;
  readonly #stops = new Set<() => void>();

  /** The notices stay the caller's. */
  constructor(notices: Notices, cluster: string) {
    this.#notices = notices;
    // A channel has at most 63 letters.
    const hash = createHash("sha256").update(cluster).digest("hex").slice(0, 32);
    this.#channel = `sluice_beat_${hash}`;
  }

  async send(beat: string): Promise<void> {
    const parts = cut(beat);
    if (parts.length === 1) return this.#notices.notify(this.#channel, `.${beat}`);
    const id = crypto.randomUUID();
    for (const [i, part] of parts.entries()) {
      await this.#notices.notify(this.#channel, `${id} ${i} ${parts.length} ${part}`);
    }
  }

  async listen(onBeat: (beat: string) => void): Promise<() => void> {
    const open = new Map<string, string[]>();
    const end = await this.#notices.listen(this.#channel, (payload) => {
      const beat = join(open, payload);
      if (beat !== undefined) onBeat(beat);
    });
    const stop = (): void => {
      end();
      this.#stops.delete(stop);
    };
    this.#stops.add(stop);
    return stop;
  }

  async close(): Promise<void> {
    for (const stop of [...this.#stops]) stop();
  }
}

/** Pieces that fit into a notice; a letter has up to four bytes. */
function cut(beat: string): string[] {
  if (Buffer.byteLength(beat) <= NOTICE_BYTES_MAX) return [beat];
  const letters = [...beat];
  const count = Math.floor((NOTICE_BYTES_MAX - 60) / 4);
  const parts: string[] = [];
  for (let i = 0; i < letters.length; i += count) parts.push(letters.slice(i, i + count).join(""));
  return parts;
}

function join(open: Map<string, string[]>, payload: string): string | undefined {
  if (payload.startsWith(".")) return payload.slice(1);
  const [, id = "", index, count, part = ""] = /^(\S+) (\d+) (\d+) (.*)$/s.exec(payload) ?? [];
  const parts = Number(index) === 0 ? [] : open.get(id);
  // Its beginning was not heard.
  if (parts === undefined || parts.length !== Number(index)) return undefined;
  parts.push(part);
  if (parts.length === Number(count)) {
    open.delete(id);
    return parts.join("");
  }
  open.set(id, parts);
  if (open.size > OPEN_MAX) open.delete(open.keys().next().value!);
  return undefined;
}
