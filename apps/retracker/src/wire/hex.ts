/** Bytes in a string, one per character, as hex digits and back. */
export function toHex(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("hex");
}

export function fromHex(hex: string): string {
  return Buffer.from(hex, "hex").toString("latin1");
}
