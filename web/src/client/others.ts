// Everybody else: predicted from the last that was heard, off walls included, and shown without jumps. The twin of
// `crates/node/src/client/others.rs`.

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
  // Who meets a wall walks on along it.
  restitution: 0,
  extrapolationUsMax: 1_000_000,
  timeoutUs: 5_000_000,
  blendUs: 100_000,
  snapDistance: 5,
};
/** Collisions among the others are predicted for so many at most: the price is quadratic. */
const COMPANY_MAX = 32;

/** Within so many metres of the eye everybody is shown anew in every frame, and within so many in every other. */
const NEAR = 30;
const FAR = 60;
const REST_MAX = 4;

/** What was heard last. */
export interface Confirmed {
  readonly tick: number;
  readonly place: GridPoint;
  readonly turn: Turn;
}

/** Somebody else: a row of the crowd, by its handle. */
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

  /** What is predicted of it alone; made where somebody asks for it. */
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

/** Every how manieth frame somebody is shown anew who is so far away: what moves in between is less than a pixel or two. */
export function restOf(x: number, z: number): number {
  const squared = x * x + z * z;
  return squared < NEAR * NEAR ? 1 : squared < FAR * FAR ? 2 : REST_MAX;
}

/** All others, by handle. */
export class Others {
  readonly all = new Map<number, Other>();
  /** Collisions among them that were predicted in the last frame. */
  contacts = 0;
  private readonly crowd: Crowd;
  private frame = 0;
  private eye: Eye | null = null;
  /** By handle, the tick from which it means somebody; infinite where it does not. */
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

  /** Somebody entered. False if the handle was somebody's: then the server is wrong. */
  enter(entered: Entered, tick: number, at: number): boolean {
    const { handle, place, turn, motion, shape, kind } = entered;
    const isNew = !this.all.has(handle);
    const { unit } = this;
    const pos = metres(place);
    this.crowd.enter(handle, innerRadius(shape), kind === 'Avatar');
    this.crowd.hear(handle, tick, at, pos.x, pos.y, pos.z, motion[0] * unit, motion[1] * unit, motion[2] * unit, turn, true, at);
    this.all.set(handle, new Other(entered, tick, this.crowd));
    this.since[handle] = tick;
    return isNew;
  }

  leave(handle: number): boolean {
    this.since[handle] = Infinity;
    return this.all.delete(handle);
  }

  /** Takes in a state's bodies. Of whom nothing is known, or something newer, is left out. */
  hear(bodies: StateBodies, tick: number, at: number, now: number): void {
    const { crowd, since, unit } = this;
    const { handle, place, motion, turn, isElsewhere } = bodies;
    for (let index = 0; index < bodies.count; index++) {
      const who = handle[index]!;
      if (!(tick > (since[who] ?? Infinity)) || tick <= crowd.tick(who)) continue;
      const first = 3 * index;
      crowd.hear(
        who, tick, at,
        place[first]! / STEPS_PER_METRE, place[first + 1]! / STEPS_PER_METRE, place[first + 2]! / STEPS_PER_METRE,
        motion[first]! * unit, motion[first + 1]! * unit, motion[first + 2]! * unit,
        turn[index]!, isElsewhere[index] === 1, now, this.rest(who) === REST_MAX,
      );
    }
  }

  /** Works out where everybody is shown at a moment of the server's clock; far from the eye not in every frame. */
  show(now: number, eye: Eye | null = null): void {
    const { crowd } = this;
    this.contacts = 0;
    this.frame += 1;
    this.eye = this.all.size > COMPANY_MAX ? eye : null;
    if (this.all.size < 2 || this.all.size > COMPANY_MAX) {
      for (const handle of this.all.keys()) {
        if ((handle + this.frame) % this.rest(handle) === 0) crowd.show(handle, now);
      }
      return;
    }
    const others = [...this.all.values()];
    const together = predictTogether(others.map((other) => other.replica), now, this.scene);
    this.contacts = together.contacts;
    others.forEach(({ handle }, index) => {
      const predicted = together.predicted[index];
      if (predicted) crowd.showPredicted(handle, now, predicted);
    });
  }

  /** Every how manieth frame somebody is shown anew. */
  private rest(handle: number): number {
    const { eye, crowd } = this;
    const at = handle * ROW + SHOWN;
    return eye === null ? 1 : restOf(crowd.data[at]! - eye.x, crowd.data[at + 2]! - eye.z);
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
