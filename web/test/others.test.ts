// What is left out of a frame must not be missed: rows far from the eye are updated more rarely, and none is lost.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { InstancedMesh } from 'three';

import { Crowd } from '../src/bench/crowd.ts';
import { Others } from '../src/client/others.ts';
import { StateBodies } from '../src/wire/bodies.ts';

Object.assign(globalThis, { matchMedia: () => ({ matches: false }) });
const { Avatars } = await import('../src/view/avatars.ts');
const { People } = await import('../src/view/people.ts');

const TICK_US = 33_333;
const FRAME_US = 16_667;
const SPEED = 1.4;

/** Lets the bench's crowd walk, told to all of these, and calls back after each frame. */
function walk(count: number, frames: number, told: readonly Others[], eye: (frame: number) => { x: number; z: number },
  look: (frame: number) => void): void {
  const crowd = new Crowd(count);
  // Without walls: these walkers go through them, and only who is near is pushed out.
  for (const others of told) {
    for (const entered of crowd.entered(0)) others.enter(entered, 1, TICK_US);
  }
  const bodies = new StateBodies();
  let tick = 1;
  for (let frame = 0; frame < frames; frame++) {
    const now = 2 * TICK_US + frame * FRAME_US;
    if (Math.floor(now / TICK_US) > tick + 1) {
      tick += 1;
      crowd.step();
      for (const datagram of crowd.datagrams(0, tick)) {
        bodies.read(datagram);
        for (const others of told) others.hear(bodies, tick, tick * TICK_US, now);
      }
    }
    told.forEach((others, index) => others.show(now, index === 0 ? eye(frame) : null));
    look(frame);
  }
}

test('near rows are updated in every frame, all in at least every eighth, and none is far from its place', () => {
  const [sparing, whole] = [new Others(TICK_US), new Others(TICK_US)];
  const last = new Map<number, number>();
  const near = new Map<number, number>();
  let [saved, worst, shown] = [0, 0, 0];
  const eye = (frame: number) => ({ x: Math.max(150 - frame, 20), z: 10 });
  walk(900, 180, [sparing, whole], eye, (frame) => {
    const { handle, count } = sparing.fresh;
    for (let index = 0; index < count; index++) last.set(handle[index]!, frame);
    const from = eye(frame);
    for (const [who, other] of sparing.all) {
      const twin = whole.all.get(who)!;
      const away = Math.hypot(twin.x - from.x, twin.z - from.z);
      const ago = frame - (last.get(who) ?? -1);
      if (ago >= 8) assert.fail(`${who} was shown ${ago} frames ago`);
      near.set(who, away < 29 ? (near.get(who) ?? 0) + 1 : 0);
      if (near.get(who)! > 8 && ago !== 0) assert.fail(`${who} is ${away} m away, and was shown ${ago} frames ago`);
      const off = Math.hypot(other.x - twin.x, other.y - twin.y, other.z - twin.z);
      // It has walked since it was shown; and who turns round at the edge is predicted the wrong way for two ticks, by
      // both.
      if (off > (SPEED * (ago * FRAME_US + 2 * 2 * TICK_US)) / 1e6 + 0.01) assert.fail(`${who} is shown ${off} m off`);
      // Blends that began while it was far have ended, and it is where the other way has it.
      if (near.get(who)! > 24 && off > 0.01) assert.fail(`${who} is near, and ${off} m off`);
      worst = Math.max(worst, off);
    }
    shown += count;
    saved += sparing.all.size - count;
  });
  assert.ok(saved > shown, `${shown} were shown, ${saved} spared`);
  assert.ok(worst > 0.01, 'somebody was shown late');
});

test('drawn are those who are heard of, where they were shown last, whoever comes and goes', () => {
  const others = new Others(TICK_US);
  const avatars = new Avatars(false);
  const people = new People(avatars);
  const entered = new Crowd(3_900).entered(0);
  let seed = 7;
  const random = () => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
  walk(300, 60, [others], () => ({ x: 0, z: 0 }), (frame) => {
    for (let change = 0; change < 20 * random(); change++) {
      const handle = Math.floor(600 * random());
      if (others.all.has(handle)) others.leave(handle);
      else others.enter({ ...entered[handle]!, kind: random() < 0.2 ? 'Movable' : 'Avatar' }, 2 + frame,
        (2 + frame) * TICK_US);
    }
    others.show(2 * TICK_US + frame * FRAME_US, { x: 0, z: 0 });
    avatars.begin(frame / 60, 1 / 60);
    people.draw(others);
    avatars.finish();
    const [bodies] = avatars.root.children as [InstancedMesh];
    const matrices = bodies!.instanceMatrix.array;
    const drawn: string[] = [];
    for (let place = 0; place < bodies!.count; place++) {
      if (matrices[16 * place + 5] !== 0) drawn.push(`${matrices[16 * place + 12]} ${matrices[16 * place + 14]}`);
    }
    const wanted = [...others.all.values()].filter(({ entered }) => entered.kind === 'Avatar');
    assert.deepEqual(drawn.sort(), wanted.map(({ x, z }) => `${Math.fround(x)} ${Math.fround(z)}`).sort(),
      `frame ${frame}`);
  });
});
