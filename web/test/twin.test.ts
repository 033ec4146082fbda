// The page predicts what the Rust client predicts: `crates/client/tests/the_page_has_a_twin.rs` writes these vectors.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { Ground, standing } from '../src/client/walk.ts';
import { Clock } from '../src/motion/clock.ts';
import { predictTogether } from '../src/motion/company.ts';
import { Display } from '../src/motion/convergence.ts';
import { Forming } from '../src/motion/form.ts';
import { type KinematicState, Replica } from '../src/motion/replica.ts';
import { Scene, type SceneObject } from '../src/motion/scene.ts';
import type { Vec } from '../src/motion/vector.ts';

type Triple = [number, number, number];
const vectors = JSON.parse(readFileSync('../crates/client/vectors/client.json', 'utf8'));

const vec = ([x, y, z]: Triple): Vec => ({ x, y, z });

function scene(objects: any[]): Scene {
  return new Scene(objects.map((object): SceneObject => {
    const pos = vec(object.pos);
    return object.form === 'ball' ? { form: 'ball', pos, radius: object.radius }
      : { form: 'cuboid', pos, half: vec(object.half) };
  }));
}

function state(update: any): KinematicState {
  return { stamp: update.stamp, pos: vec(update.pos), vel: vec(update.vel), acc: vec(update.acc), rot: update.rot };
}

const settings = (restitution: number) =>
  ({ radius: 0.4, restitution, extrapolationUsMax: 1_000_000, timeoutUs: 5_000_000 });

/** Places and velocities to the bit, up to the sign of zero. */
function same(found: Vec, told: Triple, what: string): void {
  assert.ok(found.x === told[0] && found.y === told[1] && found.z === told[2],
    `${what}: ${JSON.stringify(found)}, the vectors say ${told}`);
}

/** Rotations pass through sines, which two libraries round differently in the last bits. */
function close(found: readonly number[], told: readonly number[], what: string): void {
  found.forEach((number, axis) =>
    assert.ok(Math.abs(number - told[axis]!) < 1e-12, `${what}: ${found}, the vectors say ${told}`));
}

vectors.clocks.forEach((vector: any, index: number) => {
  test(`clock ${index}`, () => {
    const clock = new Clock();
    for (const step of vector.steps) {
      if (step.exchange) {
        const [asked, received, replied, returned] = step.exchange;
        clock.handle({ asked, received, replied, returned });
      } else {
        assert.equal(clock.ownerTime(step.local), step.mapped);
        assert.equal(clock.errorBoundUs, step.bound);
      }
    }
  });
});

vectors.replicas.forEach((vector: any, index: number) => {
  test(`dead reckoning, bounces and convergence ${index}`, () => {
    const world = scene(vector.scene);
    const replica = new Replica(settings(vector.restitution));
    const display = new Display({ blendUs: 100_000, snapDistance: 5 });
    for (const step of vector.steps) {
      if (step.update) {
        const predicted = replica.predict(step.now, world);
        const before = predicted && display.shown(step.now, predicted, 0.4, world);
        assert.ok(replica.handle(step.update.sequence, state(step.update)));
        const after = replica.predict(step.now, world);
        if (before && after) display.updated(step.now, before, after, step.update.is_teleport);
        continue;
      }
      const predicted = replica.predict(step.now, world)!;
      same(predicted.pos, step.predicted.pos, 'predicted place');
      same(predicted.vel, step.predicted.vel, 'predicted velocity');
      same(predicted.acc, step.predicted.acc, 'predicted acceleration');
      close(predicted.rot, step.predicted.rot, 'predicted turn');
      const shown = display.shown(step.now, predicted, 0.4, world);
      same(shown.pos, step.shown.pos, 'shown place');
      same(shown.vel, step.shown.vel, 'shown velocity');
      close(shown.rot, step.shown.rot, 'shown turn');
    }
  });
});

vectors.companies.forEach((vector: any, index: number) => {
  test(`collisions among the others ${index}`, () => {
    const world = scene(vector.scene);
    const replicas = vector.updates.map((update: any) => {
      const replica = new Replica(settings(vector.restitution));
      replica.handle(1, state(update));
      return replica;
    });
    for (const frame of vector.frames) {
      const { predicted, contacts } = predictTogether(replicas, frame.now, world);
      assert.equal(contacts, frame.contacts);
      predicted.forEach((found, who) => {
        same(found!.pos, frame.predicted[who].pos, `place of ${who}`);
        same(found!.vel, frame.predicted[who].vel, `velocity of ${who}`);
      });
    }
  });
});

vectors.walks.forEach((vector: any, index: number) => {
  test(`the own avatar walks, slides, steps and jumps ${index}`, () => {
    const walking = { speedMax: 6, jumpSpeed: 4.5, gravity: Math.fround(vector.gravity),
      stepHeight: Math.fround(0.35) };
    const shape = { form: 'capsule', halfHeight: Math.fround(0.6), radius: Math.fround(0.3) } as const;
    const ground = new Ground(walking, [[-20_480, 0, -20_480], [20_480, 20_480, 20_480]], shape);
    for (const { shape, place, turn } of vector.solids) {
      const [name, inner] = Object.entries(shape)[0] as [string, any];
      const told = name === 'Box' ? { half: inner.half } : { radius: inner.radius, halfHeight: inner.half_height };
      ground.add({ shape: { form: name.toLowerCase(), ...told } as any, place, turn });
    }
    let walker = standing({ x: 0, y: 0.9, z: 0 });
    for (const step of vector.steps) {
      walker = ground.step(walker, vec(step.wish), step.is_jump, 1 / 30);
      same(walker.pos, step.pos, 'place');
      assert.equal(walker.vertical, step.vertical);
      assert.equal(walker.isGrounded, step.is_grounded);
    }
  });
});

vectors.forms.forEach((vector: any, index: number) => {
  test(`what changes its form is where the world has it ${index}`, () => {
    const forming = new Forming(vector.deformation, vector.vertices.flat());
    const places: number[] = [];
    for (const { seconds, places: told } of vector.moments) {
      forming.place(seconds, places);
      // By way of sines, as rotations are.
      close(places, told.flat(), `places after ${seconds} s`);
    }
  });
});
