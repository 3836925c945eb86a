/**
 * The lines that handlers write about their jobs. They are kept with the job, the newest of them:
 * a handler that writes much loses its oldest lines, and no other job pays for it.
 */
import type { Core } from "../core.ts";
import { LOG_CHARS_MAX, LOG_LINES_MAX } from "../limits.ts";
import type { LogLine } from "../types.ts";

export class JobLogs {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** A leased job has more to say. */
  write(id: number, lease: number, lines: readonly string[], now: number): void {
    const at = this.#core.clock(now);
    const row = this.#core.leasedRow(id, lease);
    this.#core.tell({ at, fact: "logged", id, lines });
    applyLog(this.#core, row, lines, at);
  }

  /** What a job has said, the oldest first. */
  read(id: number): readonly LogLine[] {
    return this.#core.jobs.extra(this.#core.keptRow(id))?.log ?? [];
  }
}

export function applyLog(core: Core, row: number, lines: readonly string[], at: number): void {
  const extra = core.jobs.needExtra(row);
  const log = [...(extra.log ?? []), ...lines.map((text) => ({ at, text }))];
  let chars = log.reduce((sum, { text }) => sum + text.length, 0);
  let gone = 0;
  while (log.length - gone > LOG_LINES_MAX || chars > LOG_CHARS_MAX) {
    chars -= log[gone++]!.text.length;
  }
  extra.log = gone === 0 ? log : log.slice(gone);
}
