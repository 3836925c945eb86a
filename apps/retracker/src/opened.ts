/** What is open and must be closed: the last first, and all of it even when one close fails. */
export class Opened {
  readonly #closers: (() => Promise<void>)[] = [];

  defer(close: () => Promise<void>): void {
    this.#closers.push(close);
  }

  /** Rejects with the first failure. Node 22 has no AsyncDisposableStack, which does the same. */
  async close(): Promise<void> {
    let failure: { readonly error: unknown } | undefined;
    for (let close = this.#closers.pop(); close !== undefined; close = this.#closers.pop()) {
      try {
        await close();
      } catch (error) {
        failure ??= { error };
      }
    }
    if (failure !== undefined) throw failure.error;
  }
}
