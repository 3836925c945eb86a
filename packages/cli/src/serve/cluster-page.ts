/** The cluster on the dashboard. */
import type { ClusterStatus } from "@sluice/protocol";
import type { AppPage, ClusterDoor } from "@sluice/server";
import { duration, time } from "../show.ts";

export function clusterPage(node: Pick<ClusterDoor, "status" | "drain">): AppPage {
  return {
    name: "cluster",
    title: "Cluster",
    view: () => {
      const status = node.status();
      return { sections: sectionsOf(status), actions: [drainAction(status)] };
    },
    act: async (_action, { node: id = "" }) => {
      await node.drain(id);
      return `${id} gives its partitions to the others`;
    },
  };
}

function drainAction({ self }: ClusterStatus) {
  return {
    name: "drain",
    title: "Drain a node",
    confirm: "Its partitions go to the other nodes. It gets none until it is started again.",
    fields: [{ name: "node", label: "Node", value: self }],
  };
}

function sectionsOf(status: ClusterStatus) {
  const { nodes, partitions, moves } = status;
  const living = nodes.filter(({ isAlive }) => isAlive).length;
  const served = partitions.filter(({ state }) => state === "serving").length;
  const facts = [
    { label: "Nodes alive", value: `${living} of ${nodes.length}`, tone: tone(living, nodes) },
    {
      label: "Partitions served",
      value: `${served} of ${partitions.length}`,
      tone: tone(served, partitions),
    },
    ...natsFacts(status),
    { label: "Longest lag", value: duration(Math.max(0, ...partitions.map((p) => p.lag))) },
  ];
  return [
    { kind: "facts" as const, title: "Cluster", facts },
    {
      kind: "table" as const,
      title: "Nodes",
      columns: ["Node", "Address", "State", "Partitions", "NATS server", "Version", "Started"],
      rows: nodes.map((node) => [
        node.id,
        node.address,
        stateOf(node),
        node.owned,
        node.nats ?? "",
        node.version,
        { at: node.startedAt },
      ]),
    },
    {
      kind: "table" as const,
      title: "Partitions",
      columns: ["Partition", "Owner", "State", "Lag", "Jobs", "Stream leader", "Going to", "Error"],
      rows: partitions.map((one) => [
        one.partition,
        one.owner ?? "",
        one.state,
        duration(one.lag),
        one.jobs,
        one.leader ?? "",
        one.next ?? "",
        one.error ?? "",
      ]),
    },
    {
      kind: "table" as const,
      title: "Moves",
      columns: ["Time", "Partition", "From", "To", "How"],
      rows: moves
        .toReversed()
        .map((move) => [{ at: move.at }, move.partition, move.from, move.to, howOf(move)]),
    },
  ];
}

function natsFacts({ nats }: ClusterStatus) {
  if (nats === undefined) return [];
  const { server, isConnected, since, error } = nats;
  const away = `not connected since ${time(since)}${error === undefined ? "" : `: ${error}`}`;
  const value = isConnected ? server : away;
  return [{ label: "NATS", value, tone: isConnected ? ("good" as const) : ("warn" as const) }];
}

function tone(count: number, all: readonly unknown[]): "good" | "warn" {
  return count === all.length ? "good" : "warn";
}

export function stateOf(node: { isAlive: boolean; isDraining: boolean }): string {
  if (!node.isAlive) return "gone";
  return node.isDraining ? "draining" : "alive";
}

export function howOf({ isHandedOver, from }: { isHandedOver: boolean; from: string }): string {
  if (from === "") return "first";
  return isHandedOver ? "handed over" : "taken over";
}
