import type { Broker, GroupInfo } from "@sluice/protocol";
import { type CallOptions, parseCall } from "./parse-call.ts";

/** Jobs that were submitted together. */
export class Group {
  readonly id: string;
  readonly #port: Broker;

  /** Users call `sluice.group`. @internal */
  constructor(port: Broker, id: string) {
    this.#port = port;
    this.id = id;
  }

  async info(options?: CallOptions): Promise<GroupInfo> {
    return this.#port.group(this.id, parseCall("info", options));
  }

  /** Answers when the last member has ended, with how each of them did. */
  async finished(options?: CallOptions): Promise<GroupInfo> {
    return this.#port.groupEnded(this.id, parseCall("finished", options));
  }
}
