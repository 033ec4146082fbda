// WebTransport first, WebSocket where it does not work.

import type { Introduction, Link, LinkEvents, Transport } from './link.ts';
import { openWebSocket } from './websocket.ts';
import { openWebTransport } from './webtransport.ts';

/** How long a server may take to say who it is, in milliseconds. */
const PATIENCE_MS = 5_000;

/** Opens a link to a server, as in `http://localhost:7777`, or to the page's own; `only` forbids the other
 * transport. */
export async function connect(events: LinkEvents, only: Transport | null, server: string | null): Promise<Link> {
  const base = new URL(server ?? location.origin);
  if (only !== 'WebSocket') {
    try {
      return await openWebTransport(base, await introduce(base), events);
    } catch (error) {
      if (only === 'WebTransport') throw error;
    }
  }
  return openWebSocket(base, events);
}

/** What a server says of itself at `/cert-hash`. */
export async function introduce(base = new URL(location.origin)): Promise<Introduction> {
  const answer = await fetch(new URL('/cert-hash', base),
    { cache: 'no-store', signal: AbortSignal.timeout(PATIENCE_MS) });
  return (await answer.json()) as Introduction;
}
