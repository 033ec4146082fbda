// Other users and things: predicted from the last state heard, off walls included, and shown without jumps. The twin of
// `crates/client/src/others.rs`.

import { predictTogether } from '../motion/company.ts';
import type { Shown } from '../motion/convergence.ts';
import { Crowd, ROW, SHOWN, SHOWN_ANGLE, SHOWN_VEL } from '../motion/crowd.ts';
import type { Replica } from '../motion/replica.ts';
import { Scene, type SceneObject } from '../motion/scene.ts';
import { vec } from '../motion/vector.ts';
import type { StateBodies } from '../wire/bodies.ts';
import { type GridPoint, STEPS_PER_METRE, type Turn, UNTURNED } from '../wire/pose.ts';
import type { Shape } from '../wire/shape.ts';
import { MOTION_UNIT } from '../wire/state.ts';
import type { Entered, Solid } from '../wire/to_client.ts';
import { metres } from './walk.ts';

const SETTINGS = {
  // An avatar that meets a wall walks on along it.
  restitution: 0,
  extrapolationUsMax: 1_000_000,
  timeoutUs: 5_000_000,
  blendUs: 100_000,
  snapDistance: 5,
};
/** Collisions among others are predicted for at most this many: the cost is quadratic. */
const COMPANY_MAX = 32;

/** Within this distance of the eye, in metres, rows are updated every frame; beyond it, twice and four times it, half
 * as often each time. */
const NEAR = 30;
/** A row that is updated this rarely may be in a wall for a moment unseen. */
const UNSEEN = 4;

/** What was heard last. */
export interface Confirmed {
  readonly tick: number;
  readonly place: GridPoint;
  readonly turn: Turn;
}

/** Another user or thing: a row of the crowd, by its handle. */
export class Other {
  private made: { tick: number; replica: Replica } | null = null;

  constructor(readonly entered: Entered, readonly since: number, private readonly crowd: Crowd) {}

  get handle(): number {
    return this.entered.handle;
  }

  get confirmed(): Confirmed {
    const { pos } = this.replica.state!;
    const place = [pos.x * STEPS_PER_METRE, pos.y * STEPS_PER_METRE, pos.z * STEPS_PER_METRE] as const;
    return { tick: this.crowd.tick(this.handle), place, turn: this.crowd.turn(this.handle) };
  }

  /** Its own replica, made on demand. */
  get replica(): Replica {
    const tick = this.crowd.tick(this.handle);
    if (this.made?.tick !== tick) this.made = { tick, replica: this.crowd.replica(this.handle) };
    return this.made.replica;
  }

  /** Where it is shown, as of the last frame. For loops there are `x`, `y`, `z`, `heading` and `speed`. */
  get shown(): Shown {
    const { data } = this.crowd;
    const at = this.handle * ROW + SHOWN_VEL;
    const vel = { x: data[at]!, y: data[at + 1]!, z: data[at + 2]! };
    return { pos: { x: this.x, y: this.y, z: this.z }, vel, rot: this.crowd.rotation(this.handle) };
  }

  get x(): number {
    return this.crowd.data[this.handle * ROW + SHOWN]!;
  }

  get y(): number {
    return this.crowd.data[this.handle * ROW + SHOWN + 1]!;
  }

  get z(): number {
    return this.crowd.data[this.handle * ROW + SHOWN + 2]!;
  }

  /** Radians about the upright axis. */
  get heading(): number {
    return this.crowd.data[this.handle * ROW + SHOWN_ANGLE]!;
  }

  /** Metres per second over the ground. */
  get speed(): number {
    const { data } = this.crowd;
    const at = this.handle * ROW + SHOWN_VEL;
    return Math.sqrt(data[at]! * data[at]! + data[at + 2]! * data[at + 2]!);
  }
}

/** From where one looks. */
export interface Eye {
  readonly x: number;
  readonly z: number;
}

/** The frames between updates at this distance: the motion in between is less than a pixel or two. */
function restOf(x: number, z: number): number {
  const squared = x * x + z * z;
  if (squared < NEAR * NEAR) return 1;
  return squared < 4 * NEAR * NEAR ? 2 : squared < 16 * NEAR * NEAR ? 4 : 8;
}

/** The rows that a frame updated. */
export class Fresh {
  count = 0;
  handle = new Int32Array(64);
  /** How many frames have passed since the last time. */
  frames = new Uint8Array(64);

  clear(most: number): void {
    this.count = 0;
    if (most <= this.handle.length) return;
    this.handle = new Int32Array(2 * most);
    this.frames = new Uint8Array(2 * most);
  }

  add(handle: number, frames: number): void {
    this.handle[this.count] = handle;
    this.frames[this.count] = frames;
    this.count += 1;
  }
}

/** All others, by handle. */
export class Others {
  readonly all = new Map<number, Other>();
  /** Those of them who are no people. */
  readonly things = new Map<number, Other>();
  /** Raised whenever an object enters or leaves. */
  changes = 0;
  /** The rows that the last frame updated. */
  readonly fresh = new Fresh();
  /** Collisions among them that were predicted in the last frame. */
  contacts = 0;
  private readonly crowd: Crowd;
  private frame = 0;
  /** By handle, every how manieth frame it is shown anew: a power of two. */
  private rest = new Uint8Array(64);
  /** By handle, the tick from which it is in use; infinite where it is free. */
  private readonly since: number[] = [];
  /** Metres per second of one unit of motion. */
  private readonly unit: number;

  constructor(tickUs: number) {
    this.crowd = new Crowd({ ...SETTINGS, tickUs }, new Scene([]));
    this.unit = ((MOTION_UNIT / STEPS_PER_METRE) * 1e6) / tickUs;
  }

  get scene(): Scene {
    return this.crowd.scene;
  }

  set scene(scene: Scene) {
    this.crowd.scene = scene;
  }

  /** An object entered. False if the handle was in use: then the server is wrong. */
  enter(entered: Entered, tick: number, at: number): boolean {
    const { handle, place, turn, motion, shape, kind } = entered;
    const isNew = !this.all.has(handle);
    const { unit } = this;
    const pos = metres(place);
    this.crowd.enter(handle, innerRadius(shape), kind === 'Avatar');
    this.crowd.hear(handle, tick, at, pos.x, pos.y, pos.z, motion[0] * unit, motion[1] * unit, motion[2] * unit, turn,
      true, at);
    const other = new Other(entered, tick, this.crowd);
    this.all.set(handle, other);
    if (kind === 'Avatar') this.things.delete(handle);
    else this.things.set(handle, other);
    this.since[handle] = tick;
    if (handle >= this.rest.length) {
      const more = new Uint8Array(2 * (handle + 1));
      more.set(this.rest);
      this.rest = more;
    }
    this.rest[handle] = 1;
    this.changes += 1;
    return isNew;
  }

  leave(handle: number): boolean {
    this.since[handle] = Infinity;
    this.things.delete(handle);
    this.changes += 1;
    return this.all.delete(handle);
  }

  /** Takes in a state's bodies. Of whom nothing is known, or something newer, is left out. */
  hear(bodies: StateBodies, tick: number, at: number, now: number): void {
    const { crowd, since, unit, rest } = this;
    const { handle, place, motion, turn, isElsewhere } = bodies;
    for (let index = 0; index < bodies.count; index++) {
      const who = handle[index]!;
      if (!(tick > (since[who] ?? Infinity)) || tick <= crowd.tick(who)) continue;
      const first = 3 * index;
      crowd.hear(
        who, tick, at,
        place[first]! / STEPS_PER_METRE, place[first + 1]! / STEPS_PER_METRE, place[first + 2]! / STEPS_PER_METRE,
        motion[first]! * unit, motion[first + 1]! * unit, motion[first + 2]! * unit,
        turn[index]!, isElsewhere[index] === 1, now, rest[who]! > 1,
      );
    }
  }

  /** Computes where all are shown at a time of the server's clock; far from the eye not in every frame. */
  show(now: number, eye: Eye | null = null): void {
    const { crowd, fresh, rest, all } = this;
    this.contacts = 0;
    this.frame += 1;
    fresh.clear(all.size);
    if (all.size >= 2 && all.size <= COMPANY_MAX) return this.showTogether(now);
    const { frame } = this;
    for (const handle of all.keys()) {
      const frames = rest[handle]!;
      if (((handle + frame) & (frames - 1)) !== 0) continue;
      if (frames >= UNSEEN) crowd.showFar(handle, now);
      else crowd.show(handle, now);
      fresh.add(handle, frames);
      if (eye === null) rest[handle] = 1;
      else {
        const at = handle * ROW + SHOWN;
        rest[handle] = restOf(crowd.data[at]! - eye.x, crowd.data[at + 2]! - eye.z);
      }
    }
  }

  /** The same for a few, who are predicted off each other, too. */
  private showTogether(now: number): void {
    const others = [...this.all.values()];
    const together = predictTogether(others.map((other) => other.replica), now, this.scene);
    this.contacts = together.contacts;
    others.forEach(({ handle }, index) => {
      const predicted = together.predicted[index];
      if (predicted) this.crowd.showPredicted(handle, now, predicted);
      this.rest[handle] = 1;
      this.fresh.add(handle, 1);
    });
  }

  /** `ROW` numbers for each handle, from which the view draws. */
  get rows(): Float64Array {
    return this.crowd.data;
  }

  /** Those of the last frame who are near the eye; all, if they are few. */
  *near(): Iterable<Other> {
    const { handle, frames, count } = this.fresh;
    for (let index = 0; index < count; index++) {
      if (frames[index] !== 1) continue;
      const other = this.all.get(handle[index]!);
      if (other !== undefined) yield other;
    }
  }

  byObject(object: number): Other | undefined {
    for (const other of this.all.values()) if (other.entered.object === object) return other;
    return undefined;
  }
}

/** A ball within the solid: one around it would be pushed out of what it stands beside. */
function innerRadius(shape: Shape): number {
  switch (shape.form) {
    case 'box':
      return Math.min(...shape.half);
    case 'model':
      return 0;
    default:
      return shape.radius;
  }
}

/** What stands, as prediction knows it: balls and boxes along the axes, none larger than the solid. */
export function sceneObject({ shape, place, turn }: Solid): SceneObject | null {
  const pos = metres(place);
  const isTurned = turn !== UNTURNED;
  if (shape.form === 'sphere') return { form: 'ball', pos, radius: shape.radius };
  if (isTurned) return null;
  if (shape.form === 'box') return { form: 'cuboid', pos, half: vec(...shape.half) };
  if (shape.form === 'capsule') {
    const within = shape.radius * Math.SQRT1_2;
    return { form: 'cuboid', pos, half: vec(within, shape.halfHeight, within) };
  }
  return null;
}
