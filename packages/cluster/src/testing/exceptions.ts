/** A gate is known to every partition, and what passes it in one is not counted in the others. */
export const GATES: Readonly<Record<string, string>> = {
  "a gate is shared by all queues": "queues in different partitions do not share its permits",
  "an ack is a success to the ladders of the job's gates":
    "the failure was told to the gate's home, and the ack to the partition of the job",
};

/** Lanes share a partition, and partitions are asked in turn. */
const PER_PARTITION = "lanes share what their own partition hands out";

export const SPREAD: Readonly<Record<string, string>> = {
  "a consumer is listed with what it holds and what it would take":
    "credits are lent to several partitions, and each tells what it would send",
  "lanes with weights 1, 2 and 5 get their shares at every moment": PER_PARTITION,
  "the shares hold inside one call too": PER_PARTITION,
  "a lane with few jobs does not wait for one with many": PER_PARTITION,
  "a job that costs more counts for more": PER_PARTITION,
  "a queue may weigh lanes by their key, or by how it begins": PER_PARTITION,
};
