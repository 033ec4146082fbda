// WebTransport first, WebSocket where it does not work.

import type { Introduction, Link, LinkEvents, Transport } from './link.ts';
import { openWebSocket } from './websocket.ts';
import { openWebTransport } from './webtransport.ts';

/** Opens a link; `only` forbids the other transport. */
export async function connect(events: LinkEvents, only: Transport | null): Promise<Link> {
  if (only !== 'WebSocket') {
    try {
      return await openWebTransport(await introduce(), events);
    } catch (error) {
      if (only === 'WebTransport') throw error;
    }
  }
  return openWebSocket(events);
}

/** What a server says of itself to whoever asks. */
export async function introduce(): Promise<Introduction> {
  const answer = await fetch('/cert-hash', { cache: 'no-store' });
  return (await answer.json()) as Introduction;
}
