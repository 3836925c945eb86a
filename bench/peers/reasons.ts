// Where Sluice is behind, the row says why, and what would close it.

interface Reason {
  readonly row: RegExp;
  readonly peer: RegExp;
  readonly text: string;
}

// The first that fits is told.
const REASONS: readonly Reason[] = [
  {
    row: /everybody syncs|beside a deep backlog/,
    peer: /JetStream/,
    text: "JetStream 2.9 confirms before it syncs and cannot be told otherwise; `sync_interval: always`, which 2.10 knows, would make it a row of equals",
  },
  {
    row: /drain|at once/,
    peer: /RabbitMQ|JetStream/,
    text: "it hands jobs out without writing that down and confirms no ack; Sluice writes each lease and each ack to its log, and answers it. Leases that are kept in memory alone would close it, and a crash would forget their attempts",
  },
  {
    row: /one at a time/,
    peer: /RabbitMQ/,
    text: "RabbitMQ hands a job to a waiting consumer before it is on the disk; only the producer's confirm waits for the sync. Sluice hands out nothing that a crash could take back, and that is not to be closed",
  },
  {
    row: /one at a time/,
    peer: /Bee-Queue|BullMQ|JetStream|beanstalkd/,
    text: "a server in C or Go with a bare protocol, which hands a job out without writing that down; Sluice's is one thread of Node that logs the lease first and sends three WebSocket messages for a job. Fewer messages would close some of it",
  },
  {
    row: /^in process: add, run, end/,
    peer: /fastq|p-queue/,
    text: "it keeps a function in an array and knows no ids, leases, retries, lanes or gates; what Sluice does for a job in memory is what it does on disk. Nothing but leaving those out would close it",
  },
  {
    row: /memory of the server/,
    peer: /./,
    text: "waiting jobs lie on disk, or outside of a heap that is collected; Sluice holds payloads in memory up to `--payload-memory` (256 MiB) so that a dispatch reads no disk, and its figure has garbage in it that was not collected yet. A smaller budget closes it",
  },
  {
    row: /wait of the quiet/,
    peer: /./,
    text: "its handlers begin sooner, because it hands jobs out before that is on disk",
  },
];

const UNKNOWN = "nobody has looked into it yet";

export function reasonOf(row: string, peer: string): string {
  const found = REASONS.find((reason) => reason.row.test(row) && reason.peer.test(peer));
  return found?.text ?? UNKNOWN;
}
