import type { LinkEvent } from "./remote/link.ts";

/** What a connection of a cluster is about. */
export type LinkNews = LinkEvent & { readonly partition?: number };

/** Brings the news of a connection, which is made first, to the Sluice that is made of it. */
export class LinkFeed {
  #listener: ((news: LinkNews) => void) | undefined = undefined;

  readonly tell = (news: LinkNews): void => this.#listener?.(news);

  listen(listener: (news: LinkNews) => void): void {
    this.#listener = listener;
  }
}
