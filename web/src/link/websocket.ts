// The way where UDP is blocked: both channels over one TCP connection.

import type { Link, LinkEvents } from './link.ts';

/** Datagrams are dropped while so many bytes wait: what is late is worthless. */
const WAITING_MAX = 16_384;

export function openWebSocket(base: URL, events: LinkEvents): Promise<Link> {
  const scheme = base.protocol === 'https:' ? 'wss' : 'ws';
  const socket = new WebSocket(`${scheme}://${base.host}/link`);
  socket.binaryType = 'arraybuffer';
  return new Promise((resolve, reject) => {
    let isOpen = false;
    socket.onopen = () => {
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
      if (isOpen) events.closed(event.reason || 'the connection ended');
      else reject(new Error(event.reason || 'the server cannot be reached'));
      isOpen = false;
    };
  });
}
