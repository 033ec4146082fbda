// How bytes reach the server, whatever carries them: what must arrive on a stream, what is worthless when late as a
// datagram.

export type Transport = 'WebTransport' | 'WebSocket';

export interface LinkEvents {
  received(message: Uint8Array): void;
  /** Nothing follows. */
  closed(why: string): void;
}

export interface Link {
  readonly transport: Transport;
  send(message: Uint8Array<ArrayBuffer>): void;
  sendDatagram(message: Uint8Array<ArrayBuffer>): void;
  close(): void;
}

/** What the server tells of itself at `/cert-hash`. */
export interface Introduction {
  readonly sha256: string;
  readonly quic_port: number;
  readonly is_self_signed: boolean;
  /** What the world is called. */
  readonly world: string;
  /** As whom its user takes part, if the page is a peer's and not a server's. */
  readonly peer?: string | null;
}
