// A stay, with a server that is played by the test. Keeps out a bug: a page that had been held up for 15 seconds was
// thrown out, as if its user had left.

import assert from 'node:assert/strict';
import test, { afterEach, beforeEach, mock } from 'node:test';

import { type Connection, Session, forgetResumeKey, keptResumeKey } from '../src/client/session.ts';
import { Writer } from '../src/wire/codec.ts';
import { VERSION, kind } from '../src/wire/kind.ts';
import { type Reason, reasons } from '../src/wire/to_client.ts';
import { welcome } from './welcome.ts';

/** The other end of the session's socket. */
class FakeSocket {
  static OPEN = 1;
  static all: FakeSocket[] = [];
  binaryType = '';
  bufferedAmount = 0;
  readyState = 0;
  sent: Uint8Array[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: ArrayBuffer }) => void) | null = null;
  onclose: ((event: { reason: string }) => void) | null = null;

  constructor(readonly url: string) {
    FakeSocket.all.push(this);
  }

  send(message: Uint8Array): void {
    this.sent.push(message);
  }

  close(): void {
    this.readyState = 3;
  }

  /** Lets it in, and says hello back. */
  async welcome(): Promise<void> {
    this.readyState = FakeSocket.OPEN;
    this.onopen?.();
    await turn();
    this.tell(welcome(10, false));
  }

  tell(message: Uint8Array): void {
    this.onmessage?.({ data: Uint8Array.from(message).buffer });
  }
}

const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

function closed(reason: Reason): Uint8Array {
  const writer = new Writer(kind.closed);
  writer.u16(VERSION);
  writer.u8(reasons.indexOf(reason) + 1);
  writer.counted(new TextEncoder().encode('Told by the server.'));
  return writer.end();
}

const nothing = () => {};

/** A session that was begun, and what it tells. */
function begin(): { session: Session; told: Connection[]; socket(): FakeSocket } {
  const told: Connection[] = [];
  const events = { intend: nothing, joined: nothing, sceneChanged: nothing, said: nothing, grabbed: nothing };
  const session = new Session('Ann', 0, new Uint8Array(), 'WebSocket',
    { ...events, connection: (connection) => told.push(connection) });
  session.start(null);
  return { session, told, socket: () => FakeSocket.all.at(-1)! };
}

beforeEach(() => {
  FakeSocket.all = [];
  Object.assign(globalThis, { window: globalThis, WebSocket: FakeSocket, location: { origin: 'http://here:7777' } });
  const kept = new Map<string, string>();
  const storage = { getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => kept.set(name, value), removeItem: (name: string) => kept.delete(name) };
  Object.defineProperty(globalThis, 'sessionStorage', { configurable: true, get: () => storage });
  mock.timers.enable({ apis: ['setTimeout'] });
});
afterEach(() => mock.timers.reset());

for (const reason of ['Idle', 'Slow', 'Full', 'Stopping'] as const) {
  test(`whoever was in comes back after ${reason}`, async () => {
    const { session, told, socket } = begin();
    await socket().welcome();
    assert.equal(session.client.phase, 'joined');
    socket().tell(closed(reason));
    assert.deepEqual(told.at(-1), { state: 'lost', why: 'Told by the server' });
    mock.timers.tick(400);
    assert.equal(FakeSocket.all.length, 2, 'it asks again');
    await socket().welcome();
    assert.equal(session.client.phase, 'joined');
    session.leave();
  });
}

for (const reason of ['Kicked', 'Banned', 'Misbehaved', 'Resumed'] as const) {
  test(`whoever is sent away for ${reason} does not come back`, async () => {
    const { told, socket } = begin();
    await socket().welcome();
    socket().tell(closed(reason));
    assert.equal(told.at(-1)?.state, 'ended');
    mock.timers.tick(10_000);
    assert.equal(FakeSocket.all.length, 1);
  });
}

test('a server that is full lets nobody wait who has not been in', async () => {
  const { told, socket } = begin();
  socket().onopen?.();
  await turn();
  socket().tell(closed('Full'));
  assert.equal(told.at(-1)?.state, 'ended');
});

test('a browser that forbids storage lets one in all the same', async () => {
  Object.defineProperty(globalThis, 'sessionStorage', {
    configurable: true,
    get: () => {
      throw new Error('access is denied');
    },
  });
  forgetResumeKey();
  const { session, socket } = begin();
  await socket().welcome();
  assert.equal(session.client.phase, 'joined');
  assert.equal(keptResumeKey(), null);
  session.leave();
});

test('whoever has left is not told goodbye as if it were sent away', async () => {
  const { session, told, socket } = begin();
  await socket().welcome();
  session.leave();
  const before = told.length;
  socket().tell(closed('Left'));
  assert.deepEqual(told.slice(before), []);
});

test('a session that was left in the midst of its own timer has no timer any more', async () => {
  const told: Connection[] = [];
  const events = { joined: nothing, sceneChanged: nothing, said: nothing, grabbed: nothing,
    connection: (connection: Connection) => told.push(connection) };
  let intended = 0;
  const session: Session = new Session('Ann', 0, new Uint8Array(), 'WebSocket', {
    ...events,
    intend: () => {
      intended += 1;
      session.leave();
    },
  });
  session.start(null);
  await FakeSocket.all.at(-1)!.welcome();
  mock.timers.tick(1_000);
  assert.equal(intended, 1);
});

test('whoever leaves before it is let in keeps no key', async () => {
  const { session, socket } = begin();
  session.leave();
  await socket().welcome();
  assert.equal(keptResumeKey(), null);

  const late = begin();
  late.socket().onopen?.();
  await turn();
  late.session.leave();
  late.socket().tell(welcome(10, false));
  assert.equal(keptResumeKey(), null);
});

test('a server that accepts and never answers is given up, and asked again', async () => {
  const { session, told, socket } = begin();
  mock.timers.tick(5_000);
  await turn();
  assert.deepEqual(told.at(-1), { state: 'lost', why: 'it does not answer' });
  assert.equal(socket().readyState, 3, 'the socket is closed');
  mock.timers.tick(400);
  assert.equal(FakeSocket.all.length, 2);
  await socket().welcome();
  mock.timers.tick(5_000);
  assert.equal(session.client.phase, 'joined', 'one that answered in time is kept');
  session.leave();
});
