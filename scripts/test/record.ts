// One event of Node's test runner, as the reporter writes it and the tally reads it.

export interface TestRecord {
  readonly type: string;
  readonly name: string;
  readonly nesting: number;
  readonly file: string;
  readonly line: number;
  readonly isSuite: boolean;
  readonly isSkipped: boolean;
  readonly failureType: string;
  readonly error: string;
  readonly text: string;
  // How long a test or a file took, at its end.
  readonly durationMs: number;
}
