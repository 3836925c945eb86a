/** Numbers that are taken in the order in which they were put in, each in constant time. */
export class Fifo {
  #items: number[] = [];
  #from = 0;
  /** Not to be set from outside. A field, because empty lists are looked at several times a job. */
  size = 0;

  push(item: number): void {
    this.#items.push(item);
    this.size++;
  }

  peek(): number {
    return this.#items[this.#from]!;
  }

  shift(): number {
    const item = this.#items[this.#from++]!;
    this.size--;
    // Half of it is behind: what is left moves once for each that was taken.
    if (this.#from > 1024 && this.#from * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#from);
      this.#from = 0;
    } else if (this.#from === this.#items.length) {
      this.#items.length = 0;
      this.#from = 0;
    }
    return item;
  }
}
