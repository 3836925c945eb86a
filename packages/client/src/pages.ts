import type { Page } from "@sluice/protocol";

/** Walks through a list page by page; the next page is asked for when the last one is used up. */
export async function* walkPages<T>(
  ask: (cursor: string | undefined) => Promise<Page<T>>,
): AsyncGenerator<T, undefined> {
  let cursor: string | undefined;
  do {
    const page = await ask(cursor);
    yield* page.items;
    cursor = page.cursor;
  } while (cursor !== undefined);
}
