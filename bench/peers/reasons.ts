// Where Sluice is behind, the row says why, and what would close it.

interface Reason {
  readonly row: RegExp;
  readonly peer: RegExp;
  readonly text: string;
}

const REASONS: readonly Reason[] = [];

const UNKNOWN = "Sluice is behind here; nobody has looked into it yet";

export function reasonOf(row: string, peer: string): string {
  const found = REASONS.find((reason) => reason.row.test(row) && reason.peer.test(peer));
  return found?.text ?? UNKNOWN;
}
