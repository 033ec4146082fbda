// Messages on a stream, one after the other: each is preceded by its length, four bytes.

import { MESSAGE_MAX } from './kind.ts';

export function frame(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const framed = new Uint8Array(4 + message.length);
  new DataView(framed.buffer).setUint32(0, message.length, true);
  framed.set(message, 4);
  return framed;
}

/** Puts together what arrives in pieces. */
export class Frames {
  private bytes = new Uint8Array(0);

  /** Takes in a piece, and gives all messages that are complete. Throws where the stream makes no sense. */
  arrived(piece: Uint8Array): Uint8Array[] {
    const bytes = new Uint8Array(this.bytes.length + piece.length);
    bytes.set(this.bytes);
    bytes.set(piece, this.bytes.length);
    const view = new DataView(bytes.buffer);
    const messages: Uint8Array[] = [];
    let at = 0;
    while (bytes.length - at >= 4) {
      const length = view.getUint32(at, true);
      if (length < 1 || length > MESSAGE_MAX) throw new Error(`a message of ${length} bytes is announced`);
      if (bytes.length - at - 4 < length) break;
      messages.push(bytes.subarray(at + 4, at + 4 + length));
      at += 4 + length;
    }
    this.bytes = bytes.slice(at);
    return messages;
  }
}
