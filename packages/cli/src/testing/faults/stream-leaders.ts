// How long the stream of each partition had no leader: only a stream's leader answers questions
// about it. What a partition is silent beyond that is the cluster's own time.

import { connectNats } from "@sluice/log/nats";
import { wait } from "../cluster-load.ts";

const PAUSE_MS = 50;
const ANSWER_MS = 250;

interface Answers {
  readonly subject: string;
  last: number;
  longestMs: number;
}

export class StreamLeaders {
  readonly #connection: Awaited<ReturnType<typeof connectNats>>;
  readonly #streams: readonly Answers[];
  #loops: Promise<void>[] = [];
  #isOver = false;

  private constructor(connection: Awaited<ReturnType<typeof connectNats>>, partitions: number) {
    this.#connection = connection;
    this.#streams = Array.from({ length: partitions }, (_, i) => {
      return { subject: `$JS.API.STREAM.INFO.sluice-${i}`, last: 0, longestMs: 0 };
    });
  }

  static async start(servers: readonly string[], partitions: number): Promise<StreamLeaders> {
    const leaders = new StreamLeaders(await connectNats(servers), partitions);
    leaders.mark();
    leaders.#loops = leaders.#streams.map((stream) => leaders.#ask(stream));
    return leaders;
  }

  mark(): void {
    for (const stream of this.#streams) {
      Object.assign(stream, { last: performance.now(), longestMs: 0 });
    }
  }

  // The longest since the mark in which the leader of any stream did not answer.
  silenceMs(): number {
    const now = performance.now();
    const longest = this.#streams.map(({ last, longestMs }) => Math.max(longestMs, now - last));
    return Math.round(Math.max(...longest));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#loops);
    await this.#connection.close();
  }

  async #ask(stream: Answers): Promise<void> {
    while (!this.#isOver) {
      try {
        const answer = await this.#connection.request(stream.subject, "", { timeout: ANSWER_MS });
        if (answer.json<{ error?: unknown }>().error === undefined) this.#heard(stream);
      } catch {
        // Not answered: it is asked again.
      }
      await wait(PAUSE_MS);
    }
  }

  #heard(stream: Answers): void {
    const now = performance.now();
    stream.longestMs = Math.max(stream.longestMs, now - stream.last);
    stream.last = now;
  }
}
