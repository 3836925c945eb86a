import type { QueueInfo } from "@sluice/protocol";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { count } from "../../words/format.ts";

/** How many wait and run in each tier, the most urgent first; nothing where one alone is used. */
export function Tiers({ info }: { info: QueueInfo | undefined }): JSX.Element | null {
  const tiers = info?.stats.perTier ?? [];
  // A tier that was in use stays: the page must not jump when it empties.
  const used = useRef(new Set<string>());
  for (const { name, waiting, running } of tiers) if (waiting + running > 0) used.current.add(name);
  if (used.current.size < 2) return null;
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
