/**
 * Requests for what an indexer can do: each goes through the scheduler like any other, before the
 * search that needs it, and one at a time for an indexer.
 */
import type { Completion, SubmitOptions } from "../scheduler/submission.ts";
import type { Parts } from "./parts.ts";

type Submit = SubmitOptions<{ readonly mode: "caps" }, unknown>;

export class CapsRequests {
  readonly #parts: Parts;
  readonly #submit: (options: Submit) => unknown;
  /** How the last request for each indexer's caps ended, or will. */
  readonly #ends = new Map<string, { end: Promise<Completion<unknown>>; isPending: boolean }>();

  constructor(parts: Parts, submit: (options: Submit) => unknown) {
    this.#parts = parts;
    this.#submit = submit;
  }

  /** Unless they are on their way already. */
  ask(id: string, { priority, maxWait }: Pick<Submit, "priority" | "maxWait">): void {
    if (this.#ends.get(id)?.isPending) return;
    const { promise: end, resolve } = Promise.withResolvers<Completion<unknown>>();
    const entry = { end, isPending: true };
    this.#ends.set(id, entry);
    this.#submit({
      indexers: [this.#parts.indexers.limited(this.#parts.indexers.get(id))],
      params: { mode: "caps" },
      priority,
      maxWait,
      exec: async (_indexer, _params, { signal }) => {
        return { results: [await this.#parts.calls.caps(id, { signal })] };
      },
      onComplete: (completion) => {
        entry.isPending = false;
        resolve(completion);
      },
    });
  }

  /** A search that waited for caps in vain failed for what went wrong with the caps. */
  async realFailure(completion: Completion<unknown>): Promise<Completion<unknown>> {
    const { indexer, status } = completion;
    if (status !== "rate_limited" && status !== "error") return completion;
    if (this.#parts.indexers.find(indexer.id)?.caps !== undefined) return completion;
    const caps = await this.#ends.get(indexer.id)?.end;
    return caps === undefined || caps.status === "ok" ? completion : caps;
  }
}
