import type { LaneSort, LaneStats, Page, QueueSettings } from "@sluice/protocol";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { at, call } from "../../data/api.ts";
import { ofQueue, useLive } from "../../data/live.ts";
import { LANES_PER_PAGE } from "../../limits.ts";
import { Action } from "../../parts/action.tsx";
import { Choice, Empty, Frame, Head, Pager, Refused, Search } from "../../parts/bits.tsx";
import { age, count, laneAddress, laneText, percent } from "../../words/format.ts";

const SORTS = [
  ["waiting", "most waiting"],
  ["running", "most running"],
  ["received", "most received"],
  ["weight", "largest weight"],
] as const satisfies readonly (readonly [LaneSort, string])[];

const SHARE = "Share received against owed";
const COLUMNS = ["Lane", "Tier", ">Waits for", ">Waiting", ">Running", SHARE, ">Weight"];

export interface LanesProps {
  queue: string;
  tiers: QueueSettings["tiers"] | undefined;
}

/** The server sorts and searches, and sends a page: there may be a million of them. */
export function Lanes({ queue, tiers }: LanesProps): JSX.Element {
  const [search, setSearch] = useState("");
  const [sort, setSort] = useState<LaneSort>("waiting");
  const [before, setBefore] = useState<readonly string[]>([]);
  const query = { search, sort, limit: LANES_PER_PAGE, cursor: before.at(-1) };
  const address = at(["queues", queue, "lanes"], query);
  const { data, error, refresh } = useLive<Page<LaneStats>>(address, ofQueue(queue));
  const find = (text: string): void => {
    setSearch(text);
    setBefore([]);
  };
  const order = (by: LaneSort): void => {
    setSort(by);
    setBefore([]);
  };
  return (
    <>
      <div class="tools">
        <Search label="Search lanes" value={search} onSearch={find} />
        <Choice label="Sort by" value={sort} options={SORTS} onChoose={order} />
        <span class="keys" aria-hidden="true">
          <i class="received" /> received <i class="owed" /> owed
        </span>
      </div>
      <Refused error={error} />
      {data?.items.length === 0 ? (
        <Empty title={search === "" ? "No lane has jobs" : "No lane has this in its key."}>
          {search === "" && (
            <p>
              Jobs with the same <code>fairnessKey</code> share a lane, such as one for each
              customer. Lanes take turns, so that none waits behind the flood of another.
            </p>
          )}
        </Empty>
      ) : (
        <LaneTable queue={queue} lanes={data?.items} tiers={tiers} onChange={refresh} />
      )}
      {(before.length > 0 || data?.cursor !== undefined) && (
        <Pager before={before} next={data?.cursor} onTurn={setBefore} />
      )}
    </>
  );
}

interface LaneTableProps extends LanesProps {
  lanes: readonly LaneStats[] | undefined;
  onChange(): void;
}

function LaneTable({ queue, lanes = [], tiers, onChange }: LaneTableProps): JSX.Element {
  return (
    <Frame label="lanes">
      <table class="cards lanes">
        <Head columns={COLUMNS} />
        <tbody>
          {lanes.map((lane) => (
            <tr key={`${lane.tier}:${JSON.stringify(lane.key)}`}>
              <th scope="row" class="lane">
                {laneText(lane.key)}
              </th>
              <td data-label="tier">{tiers?.[lane.tier]?.name ?? lane.tier}</td>
              <td class="number wait" data-label="waits for">
                <span title="the last jobs, from due to dispatch; of the busiest lanes">
                  {lane.wait === undefined ? "–" : age(lane.wait)}
                </span>
              </td>
              <td class="number" data-label="waiting">
                {count(lane.waiting)}
              </td>
              <td class="number" data-label="running">
                {count(lane.running)}
              </td>
              <td class="wide" data-label="share received against owed">
                <ShareBar lane={lane} />
              </td>
              <td class="number" data-label="weight">
                <WeightAction queue={queue} lane={lane} onChange={onChange} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Frame>
  );
}

function ShareBar({ lane }: { lane: LaneStats }): JSX.Element {
  const { shareOwed, shareReceived } = lane;
  const owed = lane.waiting === 0 ? "owed nothing now" : `owed ${percent(shareOwed)}`;
  const text = `received ${percent(shareReceived)}, ${owed}`;
  return (
    <div class="share">
      <div class="bar" role="img" aria-label={text}>
        <i class="received" style={{ width: `${100 * shareReceived}%` }} />
        {lane.waiting > 0 && <i class="owed" style={{ left: `${100 * shareOwed}%` }} />}
      </div>
      <span>{percent(shareReceived)}</span>
      <span class="muted">{lane.waiting === 0 ? "" : `of ${percent(shareOwed)}`}</span>
    </div>
  );
}

interface WeightProps {
  queue: string;
  lane: LaneStats;
  onChange(): void;
}

function WeightAction({ queue, lane, onChange }: WeightProps): JSX.Element {
  const name = laneText(lane.key);
  return (
    <Action
      title="Change the weight"
      label={<span title={`change the weight of ${name}`}>{lane.weight}</span>}
      isSmall
      text={`The share of lane ${name} among the lanes of its tier.`}
      verb="Change"
      needs={["admin", queue]}
      fields={[{ name: "weight", label: "Weight", value: String(lane.weight), kind: "number" }]}
      run={async ({ weight }) => {
        const address = at(["queues", queue, "lanes", laneAddress(lane.key)]);
        await call("PUT", address, { body: { weight: Number(weight) } });
        return `The weight of ${name} is ${weight}.`;
      }}
      onDone={onChange}
    />
  );
}
