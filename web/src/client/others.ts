// Everybody else: predicted from the last that was heard, off walls included, and shown without jumps. The twin of
// `crates/node/src/client/others.rs`.

import { predictTogether } from '../motion/company.ts';
import { Display, type Shown } from '../motion/convergence.ts';
import { type Predicted, Replica } from '../motion/replica.ts';
import { Scene, type SceneObject } from '../motion/scene.ts';
import { type Vec, ZERO, add, length, scale, sub, vec } from '../motion/vector.ts';
import { type GridPoint, STEPS_PER_METRE, type Turn, UNTURNED, quat } from '../wire/pose.ts';
import type { Shape } from '../wire/shape.ts';
import { type Body, MOTION_UNIT } from '../wire/state.ts';
import type { Entered, Solid } from '../wire/to_client.ts';
import { metres } from './walk.ts';

const CONVERGENCE = { blendUs: 100_000, snapDistance: 5 };
/** Collisions among the others are predicted for so many at most: the price is quadratic. */
const COMPANY_MAX = 32;
/** The share of an earlier acceleration that is believed after another tick. */
const ACCELERATION_KEPT = 0.8;
/** More than this is no turn but an end of motion, in metres per second squared. */
const ACCELERATION_MAX = 12;

/** What was heard last. */
export interface Confirmed {
  readonly tick: number;
  readonly place: GridPoint;
  readonly turn: Turn;
}

export class Other {
  confirmed: Confirmed;
  /** Where it is shown, as of the last frame. */
  shown: Shown | null = null;
  readonly replica: Replica;
  private readonly display = new Display(CONVERGENCE);
  private velocity = { tick: 0, vel: ZERO };
  private acceleration: Vec = ZERO;

  constructor(readonly entered: Entered, private readonly since: number, private readonly tickUs: number) {
    this.confirmed = { tick: since, place: entered.place, turn: entered.turn };
    this.replica = new Replica({
      radius: innerRadius(entered.shape),
      // Who meets a wall walks on along it.
      restitution: 0,
      extrapolationUsMax: 1_000_000,
      timeoutUs: 5_000_000,
    });
  }

  isOlderThan(tick: number): boolean {
    return tick > this.since && tick > this.confirmed.tick;
  }

  hear(body: Body, tick: number, at: number, now: number, scene: Scene): void {
    const before = this.show(now, scene);
    const vel = motionVelocity(body.motion, this.tickUs);
    this.accelerate(tick, vel, body.isElsewhere);
    const state = { stamp: at, pos: metres(body.place), vel, acc: this.acceleration, rot: quat(body.turn) };
    if (!this.replica.handle(tick >>> 0, state)) return;
    this.confirmed = { tick, place: body.place, turn: body.turn };
    const after = this.replica.predict(now, scene);
    if (before !== null && after !== null) this.display.updated(now, before, after, body.isElsewhere);
  }

  show(now: number, scene: Scene): Shown | null {
    const predicted = this.replica.predict(now, scene);
    return predicted === null ? null : this.display.shown(now, predicted, this.replica.settings.radius, scene);
  }

  showPredicted(now: number, predicted: Predicted, scene: Scene): Shown {
    return this.display.shown(now, predicted, this.replica.settings.radius, scene);
  }

  /** How the velocity changes, smoothed: a walker that turns goes on turning for a while. */
  private accelerate(tick: number, vel: Vec, isElsewhere: boolean): void {
    const last = this.velocity;
    this.velocity = { tick, vel };
    const ticks = tick - last.tick;
    if (isElsewhere || last.tick === 0 || ticks <= 0 || ticks > 8) {
      this.acceleration = ZERO;
      return;
    }
    const seen = scale(sub(vel, last.vel), 1e6 / (ticks * this.tickUs));
    // Whoever starts, stops or bounces says nothing about what comes next.
    const isKink = length(seen) > ACCELERATION_MAX || (vel.x === 0 && vel.y === 0 && vel.z === 0);
    const weight = 1 - ACCELERATION_KEPT ** ticks;
    this.acceleration = isKink ? ZERO : add(scale(this.acceleration, 1 - weight), scale(seen, weight));
  }
}

/** All others, by handle. */
export class Others {
  readonly all = new Map<number, Other>();
  /** Collisions among them that were predicted in the last frame. */
  contacts = 0;
  scene = new Scene([]);

  constructor(private readonly tickUs: number) {}

  /** Somebody entered. False if the handle was somebody's: then the server is wrong. */
  enter(entered: Entered, tick: number, at: number): boolean {
    const isNew = !this.all.has(entered.handle);
    const other = new Other(entered, tick, this.tickUs);
    const { handle, place, turn, motion } = entered;
    other.hear({ handle, place, turn, motion, isElsewhere: true }, tick, at, at, this.scene);
    this.all.set(handle, other);
    return isNew;
  }

  leave(handle: number): boolean {
    return this.all.delete(handle);
  }

  hear(body: Body, tick: number, at: number, now: number): void {
    const other = this.all.get(body.handle);
    if (other?.isOlderThan(tick)) other.hear(body, tick, at, now, this.scene);
  }

  /** Works out where everybody is shown at a moment of the server's clock. */
  show(now: number): void {
    this.contacts = 0;
    if (this.all.size >= 2 && this.all.size <= COMPANY_MAX) {
      const others = [...this.all.values()];
      const together = predictTogether(others.map((other) => other.replica), now, this.scene);
      this.contacts = together.contacts;
      others.forEach((other, index) => {
        const predicted = together.predicted[index];
        if (predicted) other.shown = other.showPredicted(now, predicted, this.scene);
      });
      return;
    }
    for (const other of this.all.values()) other.shown = other.show(now, this.scene);
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

function motionVelocity(motion: readonly [number, number, number], tickUs: number): Vec {
  const perSecond = ((MOTION_UNIT / STEPS_PER_METRE) * 1e6) / tickUs;
  return vec(motion[0] * perSecond, motion[1] * perSecond, motion[2] * perSecond);
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
