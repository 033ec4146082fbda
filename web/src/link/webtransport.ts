// The first choice: QUIC, as a browser speaks it.

import { Frames, frame } from '../wire/frame.ts';
import type { Introduction, Link, LinkEvents } from './link.ts';

/** How long a session may take to open before the other transport is tried, in milliseconds. */
const PATIENCE_MS = 4_000;
/**
 * Datagrams that may wait to be written; what is late is worthless. More than one: browsers count a datagram as waiting
 * until a later task, so that of two written in one turn, as a ping is after an input, the second would never leave.
 */
const WAITING_MAX = 4;

/** Opens a session, or throws. */
export async function openWebTransport(base: URL, introduction: Introduction, events: LinkEvents): Promise<Link> {
  if (typeof WebTransport === 'undefined') throw new Error('this browser has no WebTransport here');
  const options: WebTransportOptions = { requireUnreliable: true };
  if (introduction.is_self_signed) {
    const value = Uint8Array.from(introduction.sha256.match(/../g) ?? [], (digits) => parseInt(digits, 16));
    options.serverCertificateHashes = [{ algorithm: 'sha-256', value }];
  }
  const session = new WebTransport(`https://${hostOf(base, introduction)}:${introduction.quic_port}/link`, options);
  // A session that fails rejects both promises; nothing else handles the second.
  session.closed.catch(() => {});
  const late = new Promise<never>((_, reject) => setTimeout(() => reject(new Error('it takes too long')), PATIENCE_MS));
  const opening = session.ready.then(() => session.createBidirectionalStream());
  let stream: WebTransportBidirectionalStream;
  try {
    stream = await Promise.race([opening, late]);
  } catch (error) {
    session.close();
    throw error;
  }
  const writer = stream.writable.getWriter();
  const datagrams = session.datagrams.writable.getWriter();

  let isOpen = true;
  const end = (why: string) => {
    if (!isOpen) return;
    isOpen = false;
    events.closed(why);
  };
  session.closed.then(() => end('the server closed the session'), (error) => end(String(error)));
  void readStream(stream.readable, events).then(end, (error) => end(String(error)));
  void readDatagrams(session.datagrams.readable, events).catch(() => {});

  return {
    transport: 'WebTransport',
    send(message) {
      writer.write(frame(message)).catch((error) => end(String(error)));
    },
    sendDatagram(message) {
      writeWhileFresh(datagrams, message);
    },
    close() {
      isOpen = false;
      session.close();
    },
  };
}

/** Writes a datagram, or drops it where too many wait already. A browser wants one at a time, and says how many it
 * wants still. */
export function writeWhileFresh(datagrams: WritableStreamDefaultWriter<Uint8Array>, message: Uint8Array): void {
  if ((datagrams.desiredSize ?? 1) > 1 - WAITING_MAX) datagrams.write(message).catch(() => {});
}

async function readStream(stream: ReadableStream<Uint8Array>, events: LinkEvents): Promise<string> {
  const reader = stream.getReader();
  const frames = new Frames();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return 'the server closed the stream';
    for (const message of frames.arrived(value)) events.received(message);
  }
}

async function readDatagrams(datagrams: ReadableStream<Uint8Array>, events: LinkEvents): Promise<void> {
  const reader = datagrams.getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    events.received(value);
  }
}

/** `localhost` may mean two addresses, of which a browser tries one for QUIC: the server says which is its own. */
export function hostOf(base: URL, introduction: Introduction): string {
  const { loopback } = introduction;
  if (base.hostname !== 'localhost' || !loopback) return base.hostname;
  return loopback.includes(':') ? `[${loopback}]` : loopback;
}
