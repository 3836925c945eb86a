import type { Broker, GroupInfo } from "@sluice/protocol";
import { fieldsOf } from "./fields.ts";

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
  async finished(options: { signal?: AbortSignal | undefined } = {}): Promise<GroupInfo> {
    return this.#port.groupEnded(this.id, fieldsOf("finished", options, ["signal"]));
  }
}
