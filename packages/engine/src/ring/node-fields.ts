/**
 * The fields of a node. Everything that can be a member of a ring is a node, so that one ring code
 * serves lanes, levels of a path, tiers, and those who wait in the line of a gate:
 *
 *   LANE    the jobs of one fairness key in one tier: owns strands, member of a ring above it
 *   LEVEL   an inner level of a path: owns the ring of its children
 *   STRAND  the FIFO of a lane's jobs that name the same gates; with one gate it is also the
 *           lane's *seat* in that gate's line
 *   STAND   an inner level of a path in the line of a gate: owns the ring of those waiting below
 *   ENTRY   a queue's tier in the line of a gate: owns the ring of its waiting lanes
 *   TIER    a tier of a queue: owns the ring of its lanes
 *
 * All nodes are rows of one table; the first nine fields are the ring's, the rest belong to the
 * kind.
 *
 * The files of the hot path take the numbers of the fields into constants of their own, as in
 * `const { HEAD, TAIL } = nodeFields`. V8 compiles a module's own constant into the code, but reads
 * one that is imported by name from memory and checks what it is, at every use: 850 ns a job at ten
 * lanes against 680. The same goes for the fields of jobs and rings.
 */
export const NODE_INTS = 28;

/** Position S = ROUND + REM / WEIGHT. ROUND is a double (index 0): it rises with every round. */
export const ROUND = 0;
export const REM = 2;
export const WEIGHT = 3;
/** The ring this node is a member of. */
export const RING = 4;
export const NEXT = 5;
export const PREV = 6;
export const WHERE = 7;
export const KIND = 8;

/**
 * WHERE: not in its ring; among its newcomers; in the list of a round; in the heap of far rounds.
 */
export const OUT = 0;
export const FRESH = 1;
export const LISTED = 2;
export const FAR = 3;
/** Not in the ring, but remembered by it until its position means nothing any more. */
export const IDLE = 4;

export const LANE = 1;
export const LEVEL = 2;
export const STRAND = 3;
export const STAND = 4;
export const ENTRY = 5;
export const TIER = 6;

/** The ring that a LEVEL, STAND, ENTRY or TIER owns. */
export const CHILD = 15;

// LANE and LEVEL
/** LANE: root of the heap of ready strands. LEVEL: the lane of the level's own jobs, if any. */
export const TOP = 9;
export const STRANDS = 10;
export const KEY = 11;
/** LANE: its strands. LEVEL: its children. */
export const REFS = 12;
export const WAITING = 13;
export const LEASED = 14;
/** Double: cost dispatched since the node was made. */
export const RECEIVED = 8;
/** LANE, LEVEL, TIER, ENTRY: index of the queue, and the tier. */
export const QUEUE = 18;
export const AT_TIER = 19;
/** LANE: the job weight last set by a job, 0 when the queue's policy rules. */
export const OWN = 20;
/** LANE: of its ordered jobs, the one that may go out, and the first and last that wait for it. */
export const ORDER_FIRST = 21;
export const ORDER_HEAD = 22;
export const ORDER_TAIL = 23;

// STRAND
export const IN_LANE = 9;
export const GATES = 10;
export const HEAD = 11;
export const TAIL = 12;
export const COUNT = 13;
export const HEAP_LEFT = 14;
export const HEAP_RIGHT = 15;
export const HEAP_UP = 16;
export const HEAP_RANK = 17;
export const STRAND_STATE = 18;
/** Jobs that belong to the strand (waiting, delayed, leased) and strands attached to it. */
export const USERS = 19;
export const LINK = 20;
export const LANE_NEXT = 21;
export const LANE_PREV = 22;
/** First of the strands with several gates that wait for their turn in this seat. */
export const ATTACHED = 23;
export const ATTACHED_NEXT = 24;
export const ATTACHED_PREV = 25;
/** The seat a strand with several gates is attached to. */
export const SEAT = 26;
/** Bit i: the strand has had its turn at its i-th gate. */
export const TURNS = 27;

// ENTRY
export const GATE = 9;

// STAND is found by (owner, level), see PairIndex
export const STAND_OWNER = 9;
export const STAND_LEVEL = 10;

/**
 * STRAND_STATE: nothing to do; in its lane's heap; in line; in line and offered; attached;
 * claiming.
 */
export const RESTING = 0;
export const READY = 1;
export const LINED = 2;
export const OFFERED = 3;
export const WAITS_TURN = 4;
export const CLAIMS = 5;
export const CLAIM_OFFERED = 6;
