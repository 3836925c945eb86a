import type { LanePlace, LaneShare, LaneSurvey } from "@sluice/engine";
import { invalid, type LaneStats, type LanesOptions, type Page } from "@sluice/protocol";
import type { EngineCalls } from "./engine-calls.ts";
import { SURVEYS_MAX } from "./limits.ts";
import { parseCursor } from "./refuse.ts";

/**
 * Lists the lanes of queues. A share needs the sum over all lanes, and an order needs a look at
 * each lane. That is done a slice at a time, and other work gets a turn between two slices.
 */
export class LaneCalls {
  readonly #calls: EngineCalls;
  /** The sums that the first page of a list was made with serve the next pages too. */
  readonly #surveys = new Map<string, LaneSurvey>();

  constructor(calls: EngineCalls) {
    this.#calls = calls;
  }

  async lanes(queue: string, options: LanesOptions = {}): Promise<Page<LaneStats>> {
    const { limit = 100, search = "", sort } = options;
    if (sort === undefined) return this.#unsorted(queue, search, limit, options.cursor);
    const after = parsePlace(options.cursor);
    const survey = this.#calls.call((engine) =>
      engine.queries.surveyLanes(queue, { search, sort, limit, after }),
    );
    await this.#walk(survey);
    const { lanes: items, next } = survey.page();
    return next === undefined ? { items } : { items, cursor: `${next.value},${next.row}` };
  }

  async #unsorted(
    queue: string,
    search: string,
    limit: number,
    from: string | undefined,
  ): Promise<Page<LaneStats>> {
    let cursor = parseCursor(from);
    const survey = await this.#sums(queue, cursor === 0);
    const items: LaneShare[] = [];
    for (;;) {
      const left = limit - items.length;
      const page = this.#calls.call((engine) =>
        engine.queries.lanes(queue, { search, limit: left, cursor }),
      );
      for (const row of page.rows) items.push(survey.share(row));
      cursor = page.cursor;
      if (cursor === 0) return { items };
      if (items.length === limit) return { items, cursor: String(cursor) };
      await turn();
    }
  }

  async #sums(queue: string, isFirst: boolean): Promise<LaneSurvey> {
    const known = isFirst ? undefined : this.#surveys.get(queue);
    if (known !== undefined) return known;
    const survey = this.#calls.call((engine) => engine.queries.surveyLanes(queue));
    await this.#walk(survey);
    this.#surveys.delete(queue);
    this.#surveys.set(queue, survey);
    const [oldest] = this.#surveys.keys();
    if (this.#surveys.size > SURVEYS_MAX) this.#surveys.delete(oldest!);
    return survey;
  }

  async #walk(survey: LaneSurvey): Promise<void> {
    while (survey.step()) {
      await turn();
      this.#calls.check();
    }
  }
}

function turn(): Promise<void> {
  return new Promise(setImmediate);
}

function parsePlace(cursor: string | undefined): LanePlace | undefined {
  if (cursor === undefined) return undefined;
  const [value, row] = String(cursor).split(",").map(Number);
  if (Number.isFinite(value) && Number.isSafeInteger(row)) return { value: value!, row: row! };
  throw invalid("cursor", "the cursor of an earlier answer", cursor);
}
