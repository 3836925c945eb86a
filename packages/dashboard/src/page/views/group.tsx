import { type GroupInfo, groupName } from "@sluice/protocol";
import type { JSX } from "preact";
import { at } from "../data/api.ts";
import { useLive } from "../data/live.ts";
import { MEMBERS_SHOWN } from "../limits.ts";
import { Fact, Frame, Head, PageHead, Pill, Refused } from "../parts/bits.tsx";
import { capital, count, percent } from "../words/format.ts";
import { link } from "../words/route.ts";
import { toneOf } from "../words/tone.ts";
import { visible } from "../words/visible.ts";

export function GroupView({ queue, group }: { queue: string; group: string }): JSX.Element {
  const { data, error } = useLive<GroupInfo>(at(["groups", queue, group]));
  const members = data?.members ?? [];
  const states = Map.groupBy(members, ({ state }) => state ?? "not ended");
  const ended = members.length - (states.get("not ended")?.length ?? 0);
  return (
    <>
      <p class="crumb">
        <a href={link("queues", queue)}>{queue}</a>
      </p>
      <PageHead title={`Group ${visible(groupName(queue, group))}`} />
      <Refused error={error} />
      {data !== undefined && (
        <>
          <dl class="facts big">
            <Fact label="State">
              <Pill tone={data.ended ? "good" : "warn"}>{data.ended ? "ended" : "open"}</Pill>
            </Fact>
            <Fact label="Members">{count(members.length)}</Fact>
            <Fact label="Ended">
              {members.length === 0 ? "–" : percent(ended / members.length)}
            </Fact>
            {[...states].map(([state, some]) => (
              <Fact key={state} label={capital(state)} tone={state === "dead" ? "bad" : undefined}>
                {count(some.length)}
              </Fact>
            ))}
          </dl>
          <Members members={members} />
        </>
      )}
    </>
  );
}

function Members({ members }: { members: GroupInfo["members"] }): JSX.Element {
  const more = members.length - MEMBERS_SHOWN;
  return (
    <>
      <Frame label="members">
        <table>
          <Head columns={["Job", "State"]} />
          <tbody>
            {members.slice(0, MEMBERS_SHOWN).map(({ id, state }) => (
              <tr key={id}>
                <th scope="row">
                  <a href={link("jobs", id)}>{id}</a>
                </th>
                <td>
                  <Pill tone={state === undefined ? "plain" : toneOf(state)}>
                    {state ?? "not ended"}
                  </Pill>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Frame>
      {more > 0 && <p class="muted">{count(more)} more members are not shown.</p>}
    </>
  );
}
