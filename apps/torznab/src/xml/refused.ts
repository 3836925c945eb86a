/** Why a document is not read. The kinds are stable, the message is for people. */
export type RefusalKind =
  | "empty"
  | "html"
  | "doctype"
  | "too_large"
  | "charset"
  | "malformed"
  | "unexpected"
  | "too_slow";

export class XmlRefused extends Error {
  readonly kind: RefusalKind;

  constructor(kind: RefusalKind, message: string) {
    super(message);
    this.name = "XmlRefused";
    this.kind = kind;
  }
}
