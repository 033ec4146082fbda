// The first byte of each message. Below 0x40 a client speaks, from there on a server.

export const VERSION = 2;
/** The most bytes of a message on a stream. */
export const MESSAGE_MAX = 65_536;
/** The most bytes of a datagram. */
export const DATAGRAM_MAX = 1_100;
/** The most bytes of a server's address. */
export const ADDRESS_MAX = 128;

export const kind = {
  hello: 0x01,
  say: 0x02,
  grab: 0x03,
  release: 0x04,
  leave: 0x05,
  moves: 0x06,
  ping: 0x07,
  watch: 0x21,
  play: 0x22,
  look: 0x23,
  welcome: 0x41,
  refused: 0x42,
  scene: 0x43,
  roster: 0x44,
  said: 0x45,
  grabbed: 0x46,
  closed: 0x47,
  state: 0x48,
  pong: 0x49,
  redirect: 0x4a,
  servers: 0x4b,
  forms: 0x50,
  watched: 0x61,
  known: 0x62,
  view: 0x63,
  played: 0x64,
  groups: 0x65,
  cells: 0x66,
  hearing: 0x67,
  borders: 0x68,
} as const;
