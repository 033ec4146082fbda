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
  /** Where that is, if only this machine reaches it. */
  readonly loopback?: string | null;
  readonly is_self_signed: boolean;
  /** What the world is called. */
  readonly world: string;
  /** The colour of its sky, like `#9fc6e8`. */
  readonly sky?: string | null;
  /** The avatars to choose from. */
  readonly avatars: readonly AvatarLook[];
  /** As whom its user takes part, if the page is a peer's and not a server's. */
  readonly peer?: string | null;
}

/** An avatar to choose. */
export interface AvatarLook {
  readonly name: string;
  /** From sole to crown, in metres. */
  readonly height: number;
  /** Half its width, in metres. */
  readonly radius: number;
}
