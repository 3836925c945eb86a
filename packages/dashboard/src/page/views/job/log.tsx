import type { LogLine } from "@sluice/protocol";
import type { JSX } from "preact";
import { at } from "../../data/api.ts";
import { type Concern, useLive } from "../../data/live.ts";
import { Body } from "../../parts/body.tsx";
import { count, exactTime } from "../../words/format.ts";
import { visible } from "../../words/visible.ts";

interface JobLogProps {
  id: string;
  concern: Concern;
}

/** The lines that the handlers of a job have written; nothing for a job without any. */
export function JobLog({ id, concern }: JobLogProps): JSX.Element | null {
  const { data } = useLive<{ items: readonly LogLine[] }>(at(["jobs", id, "log"]), concern);
  const lines = data?.items ?? [];
  if (lines.length === 0) return null;
  const text = lines.map((line) => `${exactTime(line.at)}  ${visible(line.text)}`).join("\n");
  const title = `Log, ${count(lines.length)} ${lines.length === 1 ? "line" : "lines"}`;
  return <Body title={title} text={text} />;
}
