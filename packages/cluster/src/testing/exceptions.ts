/** A gate has one home, and the other partitions work on permits that they borrow from it. */
export const GATES: Readonly<Record<string, string>> = {
  "several gates: a job goes out when all are open, and takes nothing before":
    "a permit that was borrowed for a job is out while another gate keeps the job",
  "a pattern sets the limits of all gates that it matches, each its own":
    "a poll takes what the first home that answers has lent",
  "maxWait: a refused job leaves its gate as it was":
    "a partition that borrows does not know when the gate opens, and judges no wait by it",
};

const OF_ONE_PARTITION = "the queue that the job would go to is in another partition";

/** A job stays in its partition. */
export const MOVES: Readonly<Record<string, string>> = {
  "a letter is retried in another queue, with another payload": OF_ONE_PARTITION,
  "jobs are moved to another queue, and keep their delay": OF_ONE_PARTITION,
  "a job that refuses a move is counted, and the others go on": OF_ONE_PARTITION,
  "a job that was moved": OF_ONE_PARTITION,
};

/** Lanes share a partition, and partitions are asked in turn. */
const PER_PARTITION = "lanes share what their own partition hands out";

export const SPREAD: Readonly<Record<string, string>> = {
  "maxWait: behind an interval from the end a wait is judged when no one runs":
    "the partition of the second job does not know that the first has ended",
  "a consumer is listed with what it holds and what it would take":
    "credits are lent to several partitions, and each tells what it would send",
  "lanes with weights 1, 2 and 5 get their shares at every moment": PER_PARTITION,
  "the shares hold inside one call too": PER_PARTITION,
  "a lane with few jobs does not wait for one with many": PER_PARTITION,
  "a job that costs more counts for more": PER_PARTITION,
  "a queue may weigh lanes by their key, or by how it begins": PER_PARTITION,
};
