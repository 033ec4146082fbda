// Keeps out a bug: of two datagrams written in one turn the second was dropped, which was always the ping; and the
// clock was never set right.

import assert from 'node:assert/strict';
import test from 'node:test';

import { writeWhileFresh } from '../src/link/webtransport.ts';
import { Clock } from '../src/motion/clock.ts';

/** Takes one at a time, as browsers do, and as slowly as it is told to. */
function slowStream(): { writer: WritableStreamDefaultWriter<Uint8Array>; taken: number[]; take(): Promise<void> } {
  const taken: number[] = [];
  let release = () => {};
  const stream = new WritableStream<Uint8Array>(
    {
      write: (message) =>
        new Promise((done) => {
          release = () => {
            taken.push(message[0]!);
            done();
          };
        }),
    },
    { highWaterMark: 1 },
  );
  const turn = () => new Promise<void>((done) => setTimeout(done, 0));
  const take = async () => {
    await turn();
    release();
    release = () => {};
    await turn();
  };
  return { writer: stream.getWriter(), taken, take };
}

test('an input and a ping of one turn both leave', async () => {
  const { writer, taken, take } = slowStream();
  writeWhileFresh(writer, Uint8Array.of(1));
  writeWhileFresh(writer, Uint8Array.of(2));
  await take();
  await take();
  assert.deepEqual(taken, [1, 2]);
});

test('where nothing leaves no more than four wait, and what comes later leaves again', async () => {
  const { writer, taken, take } = slowStream();
  for (let number = 1; number <= 9; number++) writeWhileFresh(writer, Uint8Array.of(number));
  for (let round = 0; round < 9; round++) await take();
  assert.deepEqual(taken, [1, 2, 3, 4]);
  writeWhileFresh(writer, Uint8Array.of(10));
  await take();
  assert.deepEqual(taken, [1, 2, 3, 4, 10]);
});

test('a datagram for a session that has ended is dropped without a word', async () => {
  const { writer } = slowStream();
  await writer.abort();
  writeWhileFresh(writer, Uint8Array.of(1));
  await new Promise((done) => setTimeout(done, 0));
});

test('the round trip that is shown is the shortest of the last eight', () => {
  const clock = new Clock();
  assert.equal(clock.leastRoundTripUs, null);
  for (const trip of [3_000, 900, 40_000]) clock.handle({ asked: 0, received: 10, replied: 10, returned: trip });
  assert.equal(clock.leastRoundTripUs, 900);
  for (let round = 0; round < 8; round++) clock.handle({ asked: 0, received: 10, replied: 10, returned: 5_000 });
  assert.equal(clock.leastRoundTripUs, 5_000);
});
