import type { JobJson } from "@sluice/protocol";
import type { JSX } from "preact";
import { Body } from "../../parts/body.tsx";
import { percent } from "../../words/format.ts";
import { pretty } from "../../words/preview.ts";
import { shareDone } from "../../words/progress.ts";

/** How far a job is: a bar where its progress says how much is done. */
export function ProgressOf({ job: { progress } }: { job: JobJson }): JSX.Element | null {
  if (progress === undefined) return null;
  const share = shareDone(progress);
  if (share === undefined) return <Body title="Progress" text={pretty(progress)} />;
  const more = typeof progress === "number" ? "" : pretty(progress).replace(/\s+/g, " ");
  return (
    <section class="job-progress">
      <h2>Progress</h2>
      <progress max={1} value={share} aria-label="progress of the job" />
      <b>{percent(share)}</b>
      <span class="muted">{more}</span>
    </section>
  );
}
