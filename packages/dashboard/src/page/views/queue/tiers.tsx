import type { QueueInfo } from "@sluice/protocol";
import type { JSX } from "preact";
import { count } from "../../words/format.ts";

/** How many wait and run in each tier, the most urgent first. */
export function Tiers({ info }: { info: QueueInfo | undefined }): JSX.Element {
  const tiers = info?.stats.perTier ?? [];
  const most = Math.max(1, ...tiers.map(({ waiting }) => waiting));
  return (
    <section class="tiers" aria-label="tiers">
      {tiers.map(({ name, waiting, running }) => (
        <div key={name} class="tier">
          <span>tier {name}</span>
          <meter min={0} max={most} value={waiting} aria-label={`waiting in tier ${name}`} />
          <span>
            <b>{count(waiting)}</b> waiting, {count(running)} running
          </span>
        </div>
      ))}
    </section>
  );
}
