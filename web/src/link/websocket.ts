// The way where UDP is blocked: both channels over one TCP connection.

import type { Link, LinkEvents } from './link.ts';

/** Datagrams are dropped while more bytes than this wait: a late one is worthless. */
const WAITING_MAX = 16_384;
/** How long a server may take to open a socket, in milliseconds: one that is stuck accepts, and never answers. */
const PATIENCE_MS = 5_000;

export function openWebSocket(base: URL, events: LinkEvents): Promise<Link> {
  const scheme = base.protocol === 'https:' ? 'wss' : 'ws';
  const socket = new WebSocket(`${scheme}://${base.host}/link`);
  socket.binaryType = 'arraybuffer';
  return new Promise((resolve, reject) => {
    let isOpen = false;
    const late = setTimeout(() => {
      reject(new Error('it does not answer'));
      socket.close();
    }, PATIENCE_MS);
    socket.onopen = () => {
      clearTimeout(late);
      isOpen = true;
      resolve({
        transport: 'WebSocket',
        send: (message) => socket.send(message),
        sendDatagram: (message) => {
          if (socket.bufferedAmount < WAITING_MAX && socket.readyState === WebSocket.OPEN) socket.send(message);
        },
        close: () => {
          isOpen = false;
          socket.close();
        },
      });
    };
    socket.onmessage = (event: MessageEvent<ArrayBuffer>) => events.received(new Uint8Array(event.data));
    socket.onclose = (event) => {
      clearTimeout(late);
      if (isOpen) events.closed(event.reason || 'the connection ended');
      else reject(new Error(event.reason || 'no connection could be made'));
      isOpen = false;
    };
  });
}
