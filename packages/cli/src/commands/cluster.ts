import { type ClusterStatus, SluiceError } from "@sluice/protocol";
import { type Call, type Command, EXIT, Misuse, tell, wordsOf } from "../command.ts";
import { DRAIN_LOOK_MS } from "../limits.ts";
import { howOf, stateOf } from "../serve/cluster-page.ts";
import { count, counted, duration, table, time } from "../show.ts";
import { http, TARGET, TARGET_USAGE } from "../target.ts";

const VERBS = ["show", "drain"];
const MOVES_SHOWN = 10;

export const clusterCommand: Command = {
  name: "cluster",
  verbs: VERBS,
  usage: `sluice cluster [show]        nodes, partitions, owners, lag and the latest moves
sluice cluster drain NODE    has a node give its partitions away, and waits until it has none

${TARGET_USAGE}`,
  options: TARGET,
  run: async (call) => {
    const [verb = "show", ...rest] = call.words;
    if (verb === "drain") return drain(call, wordsOf(rest, "NODE")[0]);
    if (verb !== "show") throw new Misuse(`"${verb}" is not one of ${VERBS.join(", ")}`);
    wordsOf(rest);
    const status = await statusOf(call);
    return tell(call, status, () => draw(status));
  },
};

function statusOf(call: Call): Promise<ClusterStatus> {
  return http<ClusterStatus>(call, "GET /v1/cluster");
}

function draw({ nodes, partitions, moves }: ClusterStatus): string {
  const nodeRows = nodes.map((node) => [
    node.id,
    node.address,
    stateOf(node),
    count(node.owned),
    node.version,
    time(node.startedAt),
  ]);
  const partitionRows = partitions.map((one) => [
    String(one.partition),
    one.owner ?? "-",
    one.next === undefined ? one.state : `${one.state}, goes to ${one.next}`,
    duration(one.lag),
    count(one.jobs),
    duration(one.openedIn),
  ]);
  const moveRows = moves
    .slice(-MOVES_SHOWN)
    .map((move) => [time(move.at), String(move.partition), move.from, move.to, howOf(move)]);
  const shown = [
    table(["node", "address", "state", ">owns", "version", "since"], nodeRows),
    table([">partition", "owner", "state", ">lag", ">jobs", ">opened in"], partitionRows),
  ];
  if (moveRows.length > 0) {
    shown.push(table(["moved", ">partition", "from", "to", "how"], moveRows));
  }
  return shown.join("\n\n");
}

async function drain(call: Call, node: string): Promise<number> {
  await http(call, `POST /v1/cluster/nodes/${encodeURIComponent(node)}/drain`);
  const { progress } = call.output;
  for (let left = Number.POSITIVE_INFINITY; ; ) {
    const { nodes } = await statusOf(call);
    const owned = nodes.find(({ id }) => id === node)?.owned ?? 0;
    if (owned !== left) progress.write(`${node} has ${counted(owned, "partition")}\n`);
    left = owned;
    if (owned === 0) break;
    if (!nodes.some((one) => one.id !== node && one.isAlive && !one.isDraining)) {
      const message =
        `cannot drain node ${node}: no other node is available. ` +
        "Start one and draining continues";
      throw new SluiceError("CONFLICT", message, { field: "node", value: node });
    }
    if (call.stop.aborted) return EXIT.wrong;
    await new Promise((resolve) => setTimeout(resolve, DRAIN_LOOK_MS));
  }
  return tell(call, { drained: node }, () => `${node} is drained: it can be stopped`);
}
