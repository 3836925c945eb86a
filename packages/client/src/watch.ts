/** Waits for a condition of its owner, who says when to look again. */
export class Watch {
  #waiting: { holds: () => boolean; resolve: () => void }[] = [];

  until(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push({ holds, resolve });
    });
  }

  look(): void {
    if (this.#waiting.length === 0) return;
    this.#waiting = this.#waiting.filter(({ holds, resolve }) => {
      const isOver = holds();
      if (isOver) resolve();
      return !isOver;
    });
  }
}
