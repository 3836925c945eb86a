import { type Broker, type BrokerEvent, type GroupInfo, SluiceError } from "@sluice/protocol";

/** Jobs that were submitted together. */
export class Group {
  readonly id: string;
  readonly #port: Broker;

  constructor(port: Broker, id: string) {
    this.#port = port;
    this.id = id;
  }

  async info(): Promise<GroupInfo> {
    return this.#port.group(this.id);
  }

  /** Answers when the last member has ended, with how each of them did. */
  async finished(): Promise<GroupInfo> {
    for (;;) {
      const events = this.#port.events({ events: ["group-ended"] });
      try {
        // Listening begins before asking, so that an end in between is not missed.
        const first = events.next();
        first.catch(() => {});
        const info = await this.info();
        if (info.ended) return info;
        return await this.#heard(events, first);
      } catch (error) {
        // A reader that fell behind was cut off: it may have missed the end, so it asks again.
        if (!(error instanceof SluiceError) || error.code !== "RATE_LIMITED") throw error;
      } finally {
        // Not waited for: a generator answers only when what it waits for has come.
        void events.return?.()?.catch(() => {});
      }
    }
  }

  async #heard(
    events: AsyncIterator<BrokerEvent>,
    first: Promise<IteratorResult<BrokerEvent>>,
  ): Promise<GroupInfo> {
    for (let next = await first; ; next = await events.next()) {
      if (next.done) throw new SluiceError("CLOSED", `group ${this.id} had not ended at the close`);
      const { value } = next;
      if (value.event !== "group-ended" || value.group !== this.id) continue;
      return { id: this.id, ended: true, members: value.members };
    }
  }
}
