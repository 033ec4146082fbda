// What is fast says what is slow: rows of the crowd, bodies in columns, and the index of what stands.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { Crowd, ROW, SHOWN, SHOWN_ANGLE, SHOWN_VEL } from '../src/motion/crowd.ts';
import { Scene, type SceneObject } from '../src/motion/scene.ts';
import { StateBodies } from '../src/wire/bodies.ts';
import { DecodeError } from '../src/wire/codec.ts';
import { heading, headingOf, uprightTurn } from '../src/wire/pose.ts';
import { type State, readState } from '../src/wire/state.ts';
import { SlowOther } from './slow_other.ts';

const TICK_US = 33_333;

/** Numbers from a seed, from 0 to 1. */
function randomOf(seed: number): () => number {
  return () => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}

function someScene(random: () => number, count: number): Scene {
  const objects = Array.from({ length: count }, (): SceneObject => {
    const pos = { x: 40 * random() - 20, y: 2 * random(), z: 40 * random() - 20 };
    if (random() < 0.3) return { form: 'ball', pos, radius: 0.2 + random() };
    const wide = random() < 0.05 ? 200 : 1.5;
    return { form: 'cuboid', pos, half: { x: 0.1 + wide * random(), y: 0.1 + random(), z: 0.1 + 1.5 * random() } };
  });
  return new Scene(objects);
}

test('a row of the crowd is shown where a replica with a display is shown', () => {
  let [walls, turns] = [0, 0];
  for (let seed = 1; seed <= 40; seed++) {
    const random = randomOf(seed);
    let scene = someScene(random, seed % 4 === 0 ? 0 : 60);
    const settings = { restitution: 0, extrapolationUsMax: 1_000_000, timeoutUs: 5_000_000, blendUs: 100_000,
      snapDistance: 5, tickUs: TICK_US };
    const crowd = new Crowd(settings, scene);
    const rows = [0, 3, 200];
    const slow = new Map(rows.map((row) => [row, new SlowOther(0.3, TICK_US)]));
    const walkers = new Map(
      rows.map((row) => [row,
      { x: 30 * random() - 15, y: 0.9, z: 30 * random() - 15, angle: 6 * random(), speed: 4 * random() }]));
    // The first two are people, the last may be turned in any way.
    rows.forEach((row, index) => crowd.enter(row, 0.3, index < 2));
    let now = TICK_US;
    for (let tick = 1; tick < 120; tick++) {
      if (tick === 60 && seed % 5 === 0) crowd.scene = scene = someScene(random, 40);
      for (const row of rows) {
        const walker = walkers.get(row)!;
        walker.angle += 0.4 * (random() - 0.5);
        if (random() < 0.05) walker.speed = 5 * random() * (random() < 0.3 ? 0 : 1);
        const isElsewhere = random() < 0.02;
        if (isElsewhere) [walker.x, walker.z] = [30 * random() - 15, 30 * random() - 15];
        const vel = { x: walker.speed * Math.sin(walker.angle), y: 0, z: walker.speed * Math.cos(walker.angle) };
        walker.x += (vel.x * TICK_US) / 1e6;
        walker.z += (vel.z * TICK_US) / 1e6;
        // Some are lost, sometimes for longer than is predicted.
        if (random() < 0.25 || (tick > 70 && tick < 108 && seed % 3 === 0)) continue;
        const turn = random() < 0.2 ? uprightTurn(Math.round(10_000 * random()), random() < 0.5)
          : heading(Math.round(40 * walker.angle));
        const pos = { x: walker.x, y: walker.y, z: walker.z };
        const at = now + Math.round(20_000 * random());
        slow.get(row)!.hear(tick, tick * TICK_US, pos, vel, turn, isElsewhere, at, scene);
        crowd.hear(row, tick, tick * TICK_US, pos.x, pos.y, pos.z, vel.x, vel.y, vel.z, turn, isElsewhere, at);
      }
      for (const share of [0.7, 1]) {
        const at = now + Math.round(share * TICK_US);
        for (const [index, row] of rows.entries()) {
          if (crowd.tick(row) === 0) continue;
          crowd.show(row, at);
          const { pos, vel, rot } = slow.get(row)!.show(at, scene)!;
          const found = [...crowd.data.subarray(row * ROW + SHOWN, row * ROW + SHOWN_VEL + 3)];
          const same = [pos.x, pos.y, pos.z, vel.x, vel.y, vel.z].every((told, axis) => told === found[axis]);
          assert.ok(same, `seed ${seed}, tick ${tick}, row ${row}: ${found}, the slow one says ${JSON.stringify(
            { pos, vel })}`);
          if (slow.get(row)!.replica.trajectory!.hasContacts) walls += 1;
          const angle = crowd.data[row * ROW + SHOWN_ANGLE]!;
          if (index < 2) assert.ok(Math.abs(Math.sin((angle - headingOf(rot)) / 2)) < 1e-9,
            `seed ${seed}, tick ${tick}: turned by ${angle}, not ${headingOf(rot)}`);
          else crowd.rotation(row).forEach((number, axis) => assert.ok(Math.abs(number - rot[axis]!) < 1e-12));
          if (Math.abs(rot[1]) > 0.1) turns += 1;
        }
      }
      now += TICK_US;
    }
  }
  assert.ok(walls > 500 && turns > 1_000, `${walls} met a wall, ${turns} were turned: the test says little`);
});

/** A state's bodies as `readState` has them; null for bytes that are no state. */
function inColumns(bodies: StateBodies, bytes: Uint8Array): State | null {
  try {
    const head = bodies.read(bytes);
    const three = (list: Int32Array, index: number) =>
      [list[3 * index]!, list[3 * index + 1]!, list[3 * index + 2]!] as const;
    return {
      ...head,
      bodies: Array.from({ length: bodies.count }, (_, index) => ({
        handle: bodies.handle[index]!,
        place: three(bodies.place, index),
        turn: bodies.turn[index]!,
        motion: three(bodies.motion, index),
        isElsewhere: bodies.isElsewhere[index] === 1,
      })),
    };
  } catch (error) {
    assert.ok(error instanceof DecodeError, String(error));
    return null;
  }
}

function asObjects(bytes: Uint8Array): State | null {
  try {
    return readState(bytes);
  } catch (error) {
    assert.ok(error instanceof DecodeError, String(error));
    return null;
  }
}

test('bodies in columns are what is read as objects, and the same bytes are refused', () => {
  const vectors = JSON.parse(readFileSync('../crates/wire/vectors/messages.json', 'utf8'))
    .to_client as { name: string; bytes: string; message: object }[];
  const states = vectors.filter(({ message }) => 'State' in message)
    .map(({ bytes }) => Uint8Array.from(bytes.match(/../g)!, (digits) => parseInt(digits, 16)));
  assert.ok(states.length >= 2);
  const bodies = new StateBodies();
  const random = randomOf(7);
  let [read, refused] = [0, 0];
  const compare = (bytes: Uint8Array) => {
    const expected = asObjects(bytes);
    assert.deepEqual(inColumns(bodies, bytes), expected, Buffer.from(bytes).toString('hex'));
    if (expected === null) refused += 1;
    else read += 1;
  };
  for (const state of states) {
    compare(state);
    for (let length = 1; length < state.length; length++) compare(state.subarray(0, length));
    for (let round = 0; round < 3_000; round++) {
      const changed = state.slice();
      for (let change = 0; change <= round % 3; change++) changed[1
        + Math.floor(random() * (changed.length - 1))]! ^= 1 << Math.floor(8 * random());
      compare(changed);
    }
  }
  // Bodies out of nothing, up to the longest datagram.
  for (let round = 0; round < 2_000; round++) {
    const bytes = Uint8Array.from({ length: 9 + Math.floor(random() * (round % 10 === 0 ? 1_091 : 120)) },
      () => 256 * random());
    bytes.set([0x48, 1, 0, 0, 0, 0, 0, 0, 0]);
    compare(bytes);
  }
  assert.ok(read > 500 && refused > 500, `${read} read, ${refused} refused`);
});

test('the index of a scene finds what looking at everything finds', () => {
  for (let seed = 1; seed <= 30; seed++) {
    const random = randomOf(seed);
    const scene = someScene(random, seed % 7 === 0 ? 0 : 80);
    for (let round = 0; round < 200; round++) {
      const low = { x: 60 * random() - 30, y: 4 * random() - 1, z: 60 * random() - 30 };
      const high = { x: low.x + 6 * random(), y: low.y + random(), z: low.z + 6 * random() };
      const half = (object: SceneObject) =>
        (object.form === 'ball' ? { x: object.radius, y: object.radius, z: object.radius } : object.half);
      const touches = (object: SceneObject) => (['x', 'y', 'z'] as const)
        .every((axis) => object.pos[axis] - half(object)[axis] <= high[axis] && object.pos[axis]
        + half(object)[axis] >= low[axis]);
      const expected = scene.objects.flatMap((object, index) => (touches(object) ? [index] : []));
      const found = new Set<number>();
      scene.near(low, high, (_, index) => found.add(index));
      assert.deepEqual([...found].sort((a, b) => a - b), expected, `seed ${seed}, round ${round}`);
      assert.equal(scene.isNear(low.x, low.y, low.z, high.x, high.y, high.z), expected.length > 0,
        `seed ${seed}, round ${round}`);
    }
  }
});
