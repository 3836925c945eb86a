/** The progress of a recovery, drawn on a terminal. A short one is over before it could be read. */

const SHOWN_BYTES_MIN = 32 * 1024 * 1024;
const WIDTH = 24;
const MIB = 1024 * 1024;

/** Where the bar is drawn: standard error, so that output stays clean. */
export interface Terminal {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

export interface Progress {
  readonly doneBytes: number;
  readonly totalBytes: number;
}

export class RecoveryBar {
  readonly #terminal: Terminal;
  #percent = -1;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  show({ doneBytes, totalBytes }: Progress): void {
    if (this.#terminal.isTTY !== true || totalBytes < SHOWN_BYTES_MIN) return;
    const percent = Math.min(100, Math.floor((100 * doneBytes) / totalBytes));
    if (percent === this.#percent) return;
    this.#percent = percent;
    const filled = Math.floor((percent * WIDTH) / 100);
    const bar = "█".repeat(filled) + "░".repeat(WIDTH - filled);
    const size = `${Math.floor(doneBytes / MIB)} of ${Math.floor(totalBytes / MIB)} MiB`;
    this.#terminal.write(`\rrecovering ${bar} ${percent} % (${size})`);
  }

  /** Leaves the line as it was found. */
  clear(): void {
    if (this.#percent !== -1) this.#terminal.write("\r\x1b[2K");
    this.#percent = -1;
  }
}
