import { type ClusterStatus, SluiceError } from "@sluice/protocol";
import { type Call, type Command, EXIT, Misuse, tell, wordsOf } from "../command.ts";
import { DRAIN_LOOK_MS } from "../limits.ts";
import { NATS_USAGE } from "../nats-address.ts";
import { howOf, stateOf } from "../serve/cluster-page.ts";
import { count, counted, duration, table, time } from "../show.ts";
import { http, TARGET, TARGET_USAGE } from "../target.ts";
import { backUp, RESTORE_OPTIONS, restore } from "./cluster-backup.ts";
import { CREATE_OPTIONS, createCluster, growCluster, moveQueue } from "./cluster-create.ts";

const VERBS = ["show", "create", "drain", "grow", "move", "backup", "restore"];
const MOVES_SHOWN = 10;
/** Below it there is nothing to say. */
const STORAGE_SHOWN = 0.75;

export const clusterCommand: Command = {
  name: "cluster",
  verbs: VERBS,
  usage: `sluice cluster [show]        nodes, partitions, owners, lag and the latest moves
sluice cluster drain NODE    moves all partitions off a node, and waits until it has none
sluice cluster create        makes a new cluster on NATS servers, once, before its first node
sluice cluster grow          adds partitions to a cluster that runs, up to --partitions N
sluice cluster move QUEUE    moves a queue to partition --to N while it is used, and waits
sluice cluster backup DIR    copies all partitions to a new directory, while the nodes work
sluice cluster restore DIR   makes a new cluster from a backup
  --partition N          restores this partition alone, in a cluster that runs
  --allow-missing        partitions that are missing in the backup start empty

  --cluster URLS         the NATS servers: nats://a,b,c
  --cluster-name NAME    which of several clusters on these servers (default sluice)
  --partitions N         how many partitions (default 12)
  --replicas N           copies that NATS keeps (default 3 with several servers, else 1)
  --storage SIZE         what NATS reserves on each server, such as 50G (default no bound)
  --allow-untested-nats  also on a nats-server that is older than those that were tested
${NATS_USAGE}

${TARGET_USAGE}`,
  options: { ...TARGET, ...CREATE_OPTIONS, ...RESTORE_OPTIONS },
  run: async (call) => {
    const [verb = "show", ...rest] = call.words;
    if (verb === "drain") return drain(call, wordsOf(rest, "NODE")[0]);
    if (verb === "create") {
      wordsOf(rest);
      return createCluster(call);
    }
    if (verb === "grow") {
      wordsOf(rest);
      return growCluster(call);
    }
    if (verb === "move") return moveQueue(call, wordsOf(rest, "QUEUE")[0]);
    if (verb === "backup") return backUp(call, wordsOf(rest, "DIR")[0]);
    if (verb === "restore") return restore(call, wordsOf(rest, "DIR")[0]);
    if (verb !== "show") throw new Misuse(`"${verb}" is not one of ${VERBS.join(", ")}`);
    wordsOf(rest);
    const status = await statusOf(call);
    return tell(call, status, () => draw(status));
  },
};

function statusOf(call: Call): Promise<ClusterStatus> {
  return http<ClusterStatus>(call, "GET /v1/cluster");
}

function draw(status: ClusterStatus): string {
  const { nodes, partitions, moves, storageUsed } = status;
  const nodeRows = nodes.map((node) => [
    node.id,
    node.address,
    stateOf(node),
    count(node.owned),
    node.nats ?? "-",
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
    one.leader ?? "-",
  ]);
  const moveRows = moves
    .slice(-MOVES_SHOWN)
    .map((move) => [time(move.at), String(move.partition), move.from, move.to, howOf(move)]);
  const shown = [
    table(["node", "address", "state", ">owns", "NATS", "version", "since"], nodeRows),
    table([">partition", "owner", "state", ">lag", ">jobs", ">opened in", "leader"], partitionRows),
    ...troublesOf(status),
  ];
  if (moveRows.length > 0) {
    shown.push(table(["moved", ">partition", "from", "to", "how"], moveRows));
  }
  if (storageUsed >= STORAGE_SHOWN) {
    shown.push(`storage: ${Math.floor(storageUsed * 100)} % used; adds are refused from 90 % on`);
  }
  return shown.join("\n\n");
}

/** What is wrong, a line each: it comes right behind the tables. */
function troublesOf({ self, nats, partitions }: ClusterStatus): string[] {
  const lines = partitions.flatMap(({ partition, error }) =>
    error === undefined ? [] : [`partition ${partition}: ${error}`],
  );
  if (nats !== undefined && !nats.isConnected) {
    const why = nats.error === undefined ? "" : `: ${nats.error}`;
    lines.unshift(`${self} is not connected to NATS since ${time(nats.since)}${why}`);
  }
  return lines.length === 0 ? [] : [lines.join("\n")];
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
