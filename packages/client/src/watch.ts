/** Waits for a condition of its owner, who says when to look again. */
export class Watch {
  #waiting: { isSo: () => boolean; resolve: () => void }[] = [];

  until(isSo: () => boolean): Promise<void> {
    if (isSo()) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push({ isSo, resolve });
    });
  }

  look(): void {
    if (this.#waiting.length === 0) return;
    this.#waiting = this.#waiting.filter(({ isSo, resolve }) => {
      const isOver = isSo();
      if (isOver) resolve();
      return !isOver;
    });
  }
}
