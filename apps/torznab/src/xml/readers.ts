import { SMALL_DOCUMENT_BYTES_MAX } from "../limits.ts";
import type { Document, XmlAnswer } from "./read-answer.ts";
import { XmlReader } from "./reader.ts";

/**
 * Two readers, so that the usual answer does not wait while a large or a bad one is being read:
 * what one indexer sends must not make the others late.
 */
export class XmlReaders {
  readonly #small = new XmlReader();
  readonly #large = new XmlReader();

  read(document: Document, signal?: AbortSignal): Promise<XmlAnswer> {
    const isSmall = document.bytes.byteLength <= SMALL_DOCUMENT_BYTES_MAX;
    return (isSmall ? this.#small : this.#large).read(document, signal);
  }

  async close(): Promise<void> {
    await Promise.all([this.#small.close(), this.#large.close()]);
  }
}
