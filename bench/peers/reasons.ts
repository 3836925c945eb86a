// Where Sluice is behind, the row says why, and what would close it.

interface Reason {
  readonly row: RegExp;
  readonly peer: RegExp;
  readonly text: string;
}

// The first that fits is told.
const REASONS: readonly Reason[] = [
  {
    row: /everybody syncs|beside a deep backlog|filling it/,
    peer: /JetStream/,
    text: "This JetStream confirms before it syncs and cannot be told otherwise; with `sync_interval: always` (2.10 and later) the row would be of equals",
  },
  {
    row: /one at a time/,
    peer: /Bee-Queue|BullMQ|JetStream|beanstalkd/,
    text: "Its server is a single program in C or Go with a bare protocol, and hands a job out without writing that down; Sluice's is one thread of Node that writes the lease to its log first and sends three WebSocket messages for a job. A lease that is logged with its ack, and fewer messages, would close most of it",
  },
  {
    row: /^in process: add, run, end/,
    peer: /fastq|p-queue/,
    text: "It keeps a function in an array and knows no ids, leases, retries, lanes or gates; what Sluice does for a job in memory is what it would do on disk. Nothing but leaving those out would close it",
  },
  {
    row: /memory of the server/,
    peer: /pg-boss|Graphile|JetStream|RabbitMQ|Sluice|beanstalkd/,
    text: "It leaves waiting jobs on disk, or outside of a garbage-collected heap; Sluice holds payloads in memory up to `--payload-memory` (256 MiB) so that a dispatch reads no disk. A smaller budget closes it",
  },
  {
    row: /speed against an empty queue/,
    peer: /./,
    text: "Of its own speed it keeps more; its speed itself is in the row above",
  },
  {
    row: /wait of the quiet/,
    peer: /./,
    text: "Its handlers begin sooner, because it hands jobs out before that is on disk",
  },
];

const UNKNOWN = "Sluice is behind here; nobody has looked into it yet";

export function reasonOf(row: string, peer: string): string {
  const found = REASONS.find((reason) => reason.row.test(row) && reason.peer.test(peer));
  return found?.text ?? UNKNOWN;
}
