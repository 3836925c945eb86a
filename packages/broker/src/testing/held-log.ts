import { MemoryLog } from "@sluice/log";
import { type ErrorDetails, SluiceError } from "@sluice/protocol";

/** A log whose appends wait until they are let go, or fail. */
export class HeldLog extends MemoryLog {
  #failure: SluiceError | undefined;
  #held: PromiseWithResolvers<void> | undefined;
  appends = 0;

  hold(): void {
    this.#held = Promise.withResolvers();
  }

  letGo(): void {
    this.#held?.resolve();
    this.#held = undefined;
  }

  fail(message = "the disk is gone", details: ErrorDetails = {}): void {
    this.#failure = new SluiceError("LOG_FAILED", message, details);
    this.letGo();
  }

  override async append(facts: Uint8Array): Promise<number> {
    this.appends++;
    const position = super.append(facts);
    await this.#held?.promise;
    if (this.#failure !== undefined) throw this.#failure;
    return position;
  }
}
