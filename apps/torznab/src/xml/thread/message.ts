/** What travels between the service and the thread that reads documents. */

import type { Document, XmlAnswer } from "../read-answer.ts";
import type { Release } from "../read-feed.ts";
import type { RefusalKind } from "../refused.ts";

export interface Request extends Document {
  readonly id: number;
}

/** Asks for the next piece of the same answer. */
export interface More {
  readonly more: number;
}

/**
 * A feed's releases come in small pieces before the rest, each when it is asked for: what has
 * arrived is unpacked at once on the event loop of the service, which must not block.
 */
export type Reply =
  | { readonly id: number; readonly releases: Release[] }
  | { readonly id: number; readonly answer: XmlAnswer }
  | { readonly id: number; readonly refused: { kind: RefusalKind; message: string } };
