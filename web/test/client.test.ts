// Keeps out a bug: after a cut, a datagram of the new connection that came before its welcome was taken to speak of the
// objects that the last connection's handles had meant.

import assert from 'node:assert/strict';
import test from 'node:test';

import { Client } from '../src/client/client.ts';
import { UNTURNED } from '../src/wire/pose.ts';
import { writeState } from '../src/wire/state.ts';
import { Writer } from '../src/wire/codec.ts';
import { kind } from '../src/wire/kind.ts';
import { TICK_US, welcome } from './welcome.ts';

const nothing = () => {};
const silent = { send: nothing, joined: nothing, ended: nothing, sceneChanged: nothing, said: nothing,
  grabbed: nothing, redirected: nothing };

function roster(number: number, tick: number, handle: number, object: number, x: number): Uint8Array {
  const writer = new Writer(kind.roster);
  writer.u16(number);
  writer.u32(tick);
  writer.varint(0);
  writer.varint(1);
  writer.varint(handle);
  writer.varint(object);
  writer.u8(0);
  writer.counted(new TextEncoder().encode(`number ${object}`));
  writer.u8(2);
  writer.f32(0.6);
  writer.f32(0.3);
  for (const steps of [x, 922, 0]) writer.zigzag(steps);
  writer.u8(0);
  for (const motion of [0, 0, 0]) writer.zigzag(motion);
  return writer.end();
}

const state = (tick: number, handle: number, x: number) =>
  writeState(tick, [0, 922, 0], [{ handle, place: [x, 922, 0], heading: 0, motion: [0, 0, 0] }]);

test('a datagram that overtakes the welcome of a resumed session moves nobody', () => {
  const client = new Client(silent);
  client.open(0, 'Ann', 0, new Uint8Array());
  client.received(1_000, welcome(10, false));
  client.received(2_000, roster(1, 11, 3, 500, 1_024));
  client.received(3_000, state(12, 3, 2_048));
  const place = () => [...client.others.all.values()]
    .map(({ entered, confirmed }) => [entered.object, confirmed.place[0], confirmed.turn]);
  assert.deepEqual(place(), [[500, 2_048, UNTURNED]]);

  client.lose();
  client.open(100_000, 'Ann', 0, new Uint8Array());
  const before = { ...client.counts };
  // On the new connection handle 3 is another user, who is introduced after the welcome.
  client.received(110_000, state(20, 3, -4_096));
  assert.deepEqual(place(), [[500, 2_048, UNTURNED]], 'nobody was moved');
  assert.deepEqual({ ...client.counts, bytesIn: 0 }, { ...before, bytesIn: 0 }, 'and nothing was counted');
  assert.equal(client.newestTick, 12);

  client.received(120_000, welcome(19, true));
  client.received(121_000, roster(1, 20, 3, 600, -4_000));
  client.received(122_000, state(21, 3, -4_100));
  assert.deepEqual(place(), [[600, -4_100, UNTURNED]]);
  assert.equal(client.counts.contradictions, 0);
});

test('the clock of a flag runs on between what the server tells, and is forgotten with the flag', () => {
  const client = new Client(silent);
  client.open(0, 'Ann', 0, new Uint8Array());
  client.received(0, welcome(10, false));
  client.received(0, roster(1, 11, 3, 500, 1_024));
  assert.equal(client.clockOf(3, 0), null, 'nothing was told');
  const forms = (tick: number, clock: number) => {
    const writer = new Writer(kind.forms);
    writer.u32(tick);
    writer.varint(1);
    writer.varint(3);
    writer.varint(clock);
    return writer.end();
  };
  client.received(0, forms(10, 7));
  const near = (found: number | null, wanted: number) =>
    assert.ok(found !== null && Math.abs(found - wanted) < 1e-6, `${found}, not ${wanted}`);
  near(client.clockOf(3, 0), 7);
  near(client.clockOf(3, 10 * TICK_US), 17);
  client.received(11 * TICK_US, forms(21, 12));
  near(client.clockOf(3, 12 * TICK_US), 13);
  near(client.clockOf(3, 0), 12);
  const left = new Writer(kind.roster);
  left.u16(2);
  left.u32(22);
  left.varint(1);
  left.varint(3);
  left.varint(0);
  client.received(12 * TICK_US, left.end());
  assert.equal(client.clockOf(3, 12 * TICK_US), null);
  assert.equal(client.counts.contradictions + client.counts.bad, 0);
});

test('a client that is sent to another server goes with its key, and knows of all servers', () => {
  const sent: string[] = [];
  const hellos: Uint8Array[] = [];
  const client = new Client(
    { ...silent, send: (message) => hellos.push(message), redirected: (address) => sent.push(address) });
  client.open(0, 'Ann', 0, new Uint8Array());
  client.received(1_000, welcome(10, false));
  const servers = new Writer(kind.servers);
  servers.varint(2);
  for (const address of ['http://one:1', 'http://two:2']) servers.counted(new TextEncoder().encode(address));
  client.received(1_500, servers.end());
  assert.deepEqual(client.servers, ['http://one:1', 'http://two:2']);
  const redirect = new Writer(kind.redirect);
  redirect.counted(new TextEncoder().encode('http://two:2'));
  client.received(2_000, redirect.end());
  assert.deepEqual(sent, ['http://two:2']);
  assert.equal(client.phase, 'apart');
  client.open(3_000, 'Ann', 0, new Uint8Array());
  const hello = hellos.at(-1)!;
  assert.equal(hello[0], kind.hello);
  assert.deepEqual([...hello.slice(-16)], Array(16).fill(5), 'the key of the session');
  client.received(4_000, welcome(11, true));
  assert.equal(client.phase, 'joined');
});

test('who is sent to another server walks on meanwhile, for a second at most, and is not seen to jump when it comes',
  () => {
  const client = new Client(silent);
  client.open(0, 'Ann', 0, new Uint8Array());
  client.received(0, welcome(10, false));
  client.intent = { velocity: [0, 0, 1_000], heading: 0, isJump: false };
  const shown = () => ({ ...client.own!.shown });
  for (let frame = 0; frame < 20; frame++) client.show(frame * 16_667, 0.016667);
  const walked = shown();
  assert.ok(walked.z > 0.3, `${walked.z}`);

  const redirect = new Writer(kind.redirect);
  redirect.counted(new TextEncoder().encode('http://two:2'));
  client.received(400_000, redirect.end());
  // A key pressed now is not sent: the other server lets the avatar go on as it went.
  client.intent = { ...client.intent, velocity: [0, 0, -2_000] };
  for (let frame = 0; frame < 20; frame++) client.show(400_000 + frame * 16_667, 0.016667);
  const crossed = shown();
  assert.ok(Math.abs(crossed.z - 2 * walked.z) < 0.05, `${crossed.z}`);
  for (let frame = 0; frame < 60; frame++) client.show(1_400_001 + frame * 16_667, 0.016667);
  assert.deepEqual(shown(), crossed, 'after a second it stands');

  client.open(2_400_000, 'Ann', 0, new Uint8Array());
  client.received(2_410_000, welcome(40, true));
  assert.equal(client.own!.confirmed.pos.z, 0, 'where the other server has it');
  assert.ok(Math.abs(shown().z - crossed.z) < 1e-9, 'but it is shown where it was');
  client.intent = { ...client.intent, velocity: [0, 0, 0] };
  for (let frame = 0; frame < 120; frame++) client.show(2_420_000 + frame * 16_667, 0.016667);
  assert.ok(Math.abs(shown().z) < 0.01, 'and comes to its place little by little');

  client.intent = { ...client.intent, velocity: [0, 0, 2_000] };
  client.lose();
  const stood = shown();
  for (let frame = 0; frame < 20; frame++) client.show(4_500_000 + frame * 16_667, 0.016667);
  assert.ok(Math.abs(shown().z - stood.z) < 0.01, 'who has lost its server stands');
});

test('nothing is said while nobody would hear it', () => {
  const sent: number[] = [];
  const client = new Client({ ...silent, send: (message) => sent.push(message[0]!) });
  client.open(0, 'Ann', 0, new Uint8Array());
  assert.equal(client.say('too early'), false);
  client.received(0, welcome(10, false));
  assert.equal(client.say('in time'), true);
  client.lose();
  assert.equal(client.say('too late'), false);
  assert.deepEqual(sent.filter((first) => first === kind.say).length, 1);
});
