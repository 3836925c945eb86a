// Counts the events of one run of Node's test runner.
//
// Node's own counts are not enough: a file that calls `process.exit(0)` half-way, or that holds
// no test at all, counts as passed there, and a failing `after` hook of a `describe` counts as
// nothing. Here a file must report its own end, and each of those is a failure.

import { relative, resolve } from "node:path";
import type { TestRecord } from "./record.ts";
import type { Shared } from "./together.ts";

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export interface Failure {
  readonly title: string;
  readonly detail: string;
}

// What a failing file printed is shown up to this length; its beginning tells the most.
const OUTPUT_CHARS_MAX = 65_536;

export class Tally {
  readonly failures: Failure[] = [];
  readonly failedFiles = new Set<string>();
  // How long each file took, in milliseconds.
  readonly fileTimes = new Map<string, number>();
  #passed = 0;
  #skipped = 0;
  readonly #root: string;
  readonly #unfinishedFiles: Set<string>;
  readonly #outputs = new Map<string, string>();
  readonly #running = new Set<string>();
  readonly #path: string[] = [];
  // Entries of processes that files share.
  readonly #entries = new Set<string>();
  // Since the last file that ended in such a process. The runner reports one process after another.
  #tests = 0;
  #testsMs = 0;

  constructor(root: string, files: readonly string[]) {
    this.#root = root;
    this.#unfinishedFiles = new Set(files.map((file) => resolve(root, file)));
  }

  get counts(): Counts {
    return { passed: this.#passed, failed: this.failures.length, skipped: this.#skipped };
  }

  // To be called before the first event.
  share(shared: readonly Shared[]): void {
    for (const { entry } of shared) this.#entries.add(resolve(this.#root, entry));
  }

  add(record: TestRecord): void {
    const key = `${this.#show(record.file)}: ${record.name}`;
    switch (record.type) {
      case "test:dequeue":
        if (!this.#isFile(record)) this.#running.add(key);
        break;
      case "test:complete":
        this.#running.delete(key);
        break;
      case "test:start":
        this.#path.length = record.nesting;
        this.#path.push(record.name);
        break;
      case "test:pass":
        this.#addPass(record);
        break;
      case "test:fail":
        this.#addFail(record);
        break;
      case "test:stdout":
      case "test:stderr":
        this.#addOutput(record);
        break;
      case "test:summary":
        if (record.file !== "") this.#endFile(record);
        break;
    }
  }

  // The test that an entry has behind each file which it loads.
  #endShared({ name }: TestRecord): void {
    if (this.#tests > 0) this.#unfinishedFiles.delete(resolve(this.#root, name));
    this.fileTimes.set(name, Math.round(this.#testsMs));
    this.#tests = 0;
    this.#testsMs = 0;
  }

  #countShared({ nesting, durationMs }: TestRecord): void {
    this.#tests += 1;
    if (nesting === 0) this.#testsMs += durationMs;
  }

  #endFile({ file, durationMs }: TestRecord): void {
    if (this.#entries.has(file)) return;
    this.#unfinishedFiles.delete(resolve(this.#root, file));
    this.fileTimes.set(this.#show(file), Math.round(durationMs));
  }

  // To be called once, when the runner has ended by itself.
  finish(): void {
    for (const file of this.#unfinishedFiles) {
      if (this.failedFiles.has(file)) continue;
      this.failedFiles.add(file);
      this.fail(this.#show(file), "The file ended before it had reported its tests, or has none.");
    }
  }

  fail(title: string, detail: string): void {
    this.failures.push({ title, detail });
  }

  // The tests that had begun and not ended: what a suite hung on.
  runningTests(): string[] {
    return [...this.#running];
  }

  // What the files with failures printed, to be read beside the failures.
  outputOfFailed(): string {
    let text = "";
    const files = this.failures.length > 0 ? [...this.failedFiles, ...this.#entries] : [];
    for (const file of files) {
      const output = this.#outputs.get(file);
      if (output) text += `output of ${this.#show(file)}:\n${output}\n`;
    }
    return text;
  }

  #addPass(record: TestRecord): void {
    if (this.#entries.has(record.file)) return this.#endShared(record);
    this.#countShared(record);
    if (record.isSuite || this.#isFile(record)) return;
    if (record.isSkipped) this.#skipped += 1;
    else this.#passed += 1;
  }

  #addFail(record: TestRecord): void {
    if (record.isSkipped) {
      this.#skipped += 1;
      return;
    }
    this.#countShared(record);
    this.failedFiles.add(resolve(this.#root, record.file));
    // The failing tests inside have been counted themselves.
    if (record.isSuite && record.failureType === "subtestsFailed") return;
    const place = `${this.#show(record.file)}:${record.line}`;
    const title = this.#isFile(record) ? place : `${place} ${this.#path.join(" › ")}`;
    this.fail(title, record.error);
  }

  #addOutput(record: TestRecord): void {
    const file = resolve(this.#root, record.file);
    const before = this.#outputs.get(file) ?? "";
    if (before.length < OUTPUT_CHARS_MAX) this.#outputs.set(file, before + record.text);
  }

  // If the process of a file failed or reported nothing, Node reports the file as a test with its
  // path.
  #isFile(record: TestRecord): boolean {
    return record.nesting === 0 && resolve(this.#root, record.name) === record.file;
  }

  #show(file: string): string {
    return relative(this.#root, resolve(this.#root, file));
  }
}
