// Runs commands as a shell would, against a server of the test's own.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { ServerSettings } from "@sluice/protocol";
import { run } from "../run.ts";
import { type Served, startServer } from "../serve/server.ts";

export interface Said {
  readonly code: number;
  readonly text: string;
  // What went to standard error.
  readonly remarks: string;
}

export interface CallOptions {
  readonly env?: Record<string, string>;
  readonly input?: string;
  readonly stop?: AbortSignal;
}

export async function command(args: readonly string[], options: CallOptions = {}): Promise<Said> {
  const lines: string[] = [];
  let remarks = "";
  const write = (text: string): void => {
    remarks += text;
  };
  const code = await run(args, {
    env: { PATH: process.env.PATH, ...options.env },
    input: (async function* () {
      yield options.input ?? "";
    })(),
    output: { out: (text) => lines.push(text), progress: { isTTY: false, write } },
    stop: options.stop ?? new AbortController().signal,
  });
  return { code, text: lines.join("\n"), remarks };
}

export interface Place {
  readonly served: Served;
  sluice(line: string, ...more: string[]): Promise<Said>;
  feed(input: string, ...args: string[]): Promise<Said>;
}

/** `sluice("queue list")`; words that hold spaces come after the line. */
export async function place(t: TestContext, settings: ServerSettings = {}): Promise<Place> {
  const dir = mkdtempSync(join(tmpdir(), "sluice-cli-"));
  const served = await startServer({ dir, port: 0, logLevel: "silent", ...settings });
  await served.broker;
  t.after(async () => {
    await served.close();
    rmSync(dir, { recursive: true });
  });
  const env = { SLUICE_URL: served.address };
  return {
    served,
    sluice: (line, ...more) => command([...line.split(" "), ...more], { env }),
    feed: (input, ...args) => command(args, { env, input }),
  };
}
