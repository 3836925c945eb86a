// Where Sluice is behind, the row says why, and what would close it. Where the reason is not known,
// what is known is told, and what would be measured next.

interface Reason {
  readonly row: RegExp;
  readonly peer: RegExp;
  readonly text: string;
}

const NODE =
  "Sluice's server is one thread of Node, and a job is three WebSocket messages of it (the add's answer, the delivery, the ack's answer)";
const PROFILE =
  "`npm run bench -- profile` prints where the server's time goes, and a profile of this row would be the next to take";
const OTHER_CORES = "a server that uses both cores of the machine, where Sluice's has one thread";

const THROUGHPUT = /^(produce and drain|bulk produce|drain)|filling it/;
const SINGLES = /one at a time/;
const FLOOD_WAIT = /floods: (wait|its jobs)/;
const FLOOD_ALL = /floods: all jobs/;
const MEMORY = /memory of the server/;
const OF_EMPTY = /against an empty queue/;
const SHARE = /share of the limit/;
const OVER = /most beyond it/;
const TENTH = /tenth of a second/;

// The first that fits is told.
const REASONS: readonly Reason[] = [
  {
    row: THROUGHPUT,
    peer: /JetStream/,
    text: `it confirms before it syncs and cannot be told otherwise before 2.10 (\`sync_interval: always\`), answers no ack, and is ${OTHER_CORES}. Sluice writes each lease and each ack to its log and answers it; leases that are kept in memory alone would close some of it, and a crash would forget their attempts`,
  },
  {
    row: THROUGHPUT,
    peer: /classic/,
    text: `a classic queue hands a job out without writing that down and answers no ack, and it is ${OTHER_CORES}. Leases that are kept in memory alone would close some of it, and a crash would forget their attempts`,
  },
  {
    row: THROUGHPUT,
    peer: /quorum/,
    text: `it is ${OTHER_CORES}; its acks go through its log of Raft, but no consumer waits for one. An ack without an answer would close some of it, and a consumer would not know whether it is stored`,
  },
  {
    row: THROUGHPUT,
    peer: /Bee-Queue|BullMQ/,
    text: `Redis answers a whole pipeline after one sync, as Sluice does a batch; what Sluice spends beyond it on a job is not known. ${PROFILE}`,
  },
  {
    row: THROUGHPUT,
    peer: /pg-boss|Graphile/,
    text: `a thousand jobs are one statement and one commit, carried out by ${OTHER_CORES}; Sluice reads, checks and names each job by itself. How much of its time that is would be measured next: ${PROFILE}`,
  },
  {
    row: THROUGHPUT,
    peer: /beanstalkd/,
    text: `its server in C does little for a job: no lanes, no attempts, and a reserve is not written down. How much of Sluice's time those take is not known: ${PROFILE}`,
  },
  {
    row: SINGLES,
    peer: /JetStream/,
    text: `it hands a job out before it is on the disk (2.9 syncs every minute) and writes no lease; relaxed, where Sluice does not sync either, what is left is a server in Go against one in Node: ${NODE}. Fewer messages would close some of it`,
  },
  {
    row: SINGLES,
    peer: /classic/,
    text: "a classic queue hands a job to a waiting consumer before it is on the disk; only the producer's confirm waits for the sync. Sluice hands out nothing that a crash could take back, and that is not to be closed",
  },
  {
    row: SINGLES,
    peer: /quorum/,
    text: `both hand a job out after one sync; it writes no lease. What else differs is not known: the time between the sync and the handler would be measured next`,
  },
  {
    row: SINGLES,
    peer: /Bee-Queue/,
    text: `Redis syncs once for the add and for handing it to a consumer that waits, as Sluice does for an add and its lease; the rest is a server in C with a bare protocol. ${NODE}; fewer messages would close some of it`,
  },
  {
    row: SINGLES,
    peer: /beanstalkd/,
    text: `one sync as with Sluice, but of a file whose place is taken beforehand, while Sluice's log grows with each write and its sync has the new size to store; then a server in C sends one line, where ${NODE}. Taking the log's place beforehand and fewer messages would close some of it`,
  },
  {
    row: SINGLES,
    peer: /BullMQ/,
    text: "BullMQ syncs twice for a job (the add, and the script that gives it to a worker) where Sluice syncs once, so no reason is known; a trace of the slowest adds would be taken next",
  },
  {
    row: SINGLES,
    peer: /pg-boss|Graphile/,
    text: "it commits twice for a job, where Sluice syncs once, but into files of a log whose place is taken beforehand, while Sluice's log grows with each write and its sync has the new size to store. Whether that is all is not known; taking the log's place beforehand would be tried next",
  },
  {
    row: MEMORY,
    peer: /Bee-Queue|BullMQ|beanstalkd/,
    text: "a waiting job is one or two blocks of a C allocator. Sluice holds payloads in memory up to `--payload-memory` (256 MiB), so that a dispatch reads no disk, and its figure has garbage in it that was not collected yet. A smaller budget closes it",
  },
  {
    row: MEMORY,
    peer: /pg-boss|Graphile|JetStream|RabbitMQ/,
    text: "waiting jobs lie on the disk, and what the operating system keeps of them in its cache is not counted. Sluice holds payloads in memory up to `--payload-memory` (256 MiB), so that a dispatch reads no disk, and its figure has garbage in it that was not collected yet. A smaller budget closes it",
  },
  {
    row: OF_EMPTY,
    peer: /./,
    text: "beside a backlog its consumer always holds as many jobs as it may, which is 8,000, and those that it finishes beyond the count are work for nothing; a queue that is empty hands out what counts and no more. Longer turns (`--full`) make less of it. Whether the collections of a larger heap cost something too is not known",
  },
  {
    row: FLOOD_WAIT,
    peer: /pg-boss/,
    text: "a quarter of its handlers is all that the flood may have: a quiet job finds a free one at once. Sluice gives the flood all of them, and a quiet job has the next that is free; a gate for each tenant with a `concurrency` closes it at the same price",
  },
  {
    row: FLOOD_WAIT,
    peer: /./,
    text: "it serves in the order of arrival, so the wait of the quiet is the length of the flood; where it is shorter than Sluice's, Sluice was held up. What held it up would be looked for in a profile of this row",
  },
  {
    row: FLOOD_ALL,
    peer: /JetStream|classic/,
    text: "the next job of a handler waits for nothing that is written, while Sluice syncs the ack and the next lease before it hands that out. Leasing more jobs than there are handlers would close it, and keep those from other consumers",
  },
  {
    row: FLOOD_ALL,
    peer: /Graphile Worker, batched/,
    text: "it has fetched up to 500 jobs ahead, and ends jobs in batches that no handler waits for. Leasing more jobs than there are handlers would close it, and keep those from other consumers",
  },
  {
    row: FLOOD_ALL,
    peer: /./,
    text: "it syncs between two jobs of a handler as Sluice does; the time from the end of a handler to the begin of the next one would be measured next",
  },
  {
    row: SHARE,
    peer: /./,
    text: "a permit that a late timer has not given out is made up for up to the burst (50), and what lies beyond is lost; a larger burst would close it, and let more begin at once",
  },
  {
    row: OVER,
    peer: /./,
    text: "Sluice and BullMQ count where jobs are handed out, and jobs that were held up on their way begin closer together; the limiter of the others counts in the consumer, at the very begin of a handler. Nothing but a limiter in the one consumer closes it, and that is none of several",
  },
  {
    row: TENTH,
    peer: /./,
    text: "100 are a tenth of the limit, and Sluice's gate is told to allow a burst of 50 beyond them; its peers are told to allow none (BullMQ: all of a second at once). A smaller burst closes it",
  },
  {
    row: /^in process: add, run, end/,
    peer: /./,
    text: "it keeps a function in an array and knows no ids, leases, retries, lanes or gates; what Sluice does for a job in memory is what it does on disk. Nothing but leaving those out would close it",
  },
  {
    row: /^embedded/,
    peer: /./,
    text: `SQLite does less for a job; ${PROFILE}`,
  },
];

export function reasonOf(row: string, peer: string): string {
  const found = REASONS.find((reason) => reason.row.test(row) && reason.peer.test(peer));
  return found?.text ?? `no reason is known; ${PROFILE}`;
}
