/** What a frame is. Those of the client are below 0x80, the answers of the server above. */
export const KIND = {
  /** The first frame of a connection: who speaks, and which session it continues. */
  hello: 0x01,
  /** The client leaves: its consumers stop and what they hold goes back at once. */
  leave: 0x02,
  /** How many messages of this session have come; both ends say it. */
  received: 0x03,
  ping: 0x04,
  pong: 0x05,
  /** The caller has given an operation up. */
  cancel: 0x06,
  add: 0x10,
  lease: 0x11,
  consume: 0x12,
  credits: 0x13,
  stop: 0x14,
  ack: 0x15,
  nack: 0x16,
  giveBack: 0x17,
  extend: 0x18,
  /** One of the rare calls of the port, by its name. */
  call: 0x19,
  events: 0x1a,

  welcome: 0x81,
  /** All that the client had asked for is answered, and it may go. */
  left: 0x82,
  /** An operation has failed as a whole; operation 0: the connection has. */
  error: 0x83,
  added: 0x90,
  leased: 0x91,
  consuming: 0x92,
  deliver: 0x93,
  over: 0x94,
  /** Every item of a batch went through. */
  done: 0x95,
  outcomes: 0x96,
  answer: 0x97,
  happened: 0x98,
} as const;
