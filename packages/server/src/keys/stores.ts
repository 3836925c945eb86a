/** Stores of the server itself: out of reach of the store calls that the network can make. */
const RESERVED = "sluice:";

export const KEYS_STORE = `${RESERVED}keys`;

/** What policies read. Everybody may read it, and only those who run the place may write it. */
export const CONFIG_STORE = "config";

export function isReserved(store: string): boolean {
  return String(store).startsWith(RESERVED);
}
