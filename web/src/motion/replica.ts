// A predicted copy of an object that another host moves: the twin of `motion::Replica` for constant acceleration.

import type { Quat } from '../wire/pose.ts';
import { Trajectory } from './trajectory.ts';
import type { Scene } from './scene.ts';
import { type Vec, ZERO } from './vector.ts';

/** Where an object was and how it moved, at a moment of its owner's clock in microseconds. */
export interface KinematicState {
  readonly stamp: number;
  readonly pos: Vec;
  readonly vel: Vec;
  readonly acc: Vec;
  readonly rot: Quat;
}

export interface Predicted {
  readonly pos: Vec;
  readonly vel: Vec;
  readonly acc: Vec;
  readonly rot: Quat;
}

export interface ReplicaSettings {
  readonly radius: number;
  /** The share of the speed along a normal that a bounce gives back. */
  readonly restitution: number;
  /** Microseconds after a stamp at which the replica comes to rest. */
  readonly extrapolationUsMax: number;
  /** Microseconds after a stamp at which it is stale. */
  readonly timeoutUs: number;
}

export class Replica {
  private newest: KinematicState | null = null;
  private sequence = 0;
  private path: Trajectory | null = null;

  constructor(readonly settings: ReplicaSettings) {}

  get trajectory(): Trajectory | null {
    return this.path;
  }

  get state(): KinematicState | null {
    return this.newest;
  }

  /** Takes in an update, unless a newer one was here before. */
  handle(sequence: number, state: KinematicState): boolean {
    if (this.newest !== null && ((sequence - this.sequence) | 0) <= 0) return false;
    this.sequence = sequence;
    this.newest = state;
    this.path = new Trajectory(state.stamp, { pos: state.pos, vel: state.vel, acc: state.acc }, this.settings.radius);
    return true;
  }

  /** Seconds since the stamp, within what is extrapolated. */
  seconds(at: number): number {
    const elapsed = at - (this.newest?.stamp ?? at);
    return Math.min(Math.max(elapsed, 0), this.settings.extrapolationUsMax) * 1e-6;
  }

  /** Where the object is at a moment of its owner's clock; null before the first update. */
  predict(at: number, scene: Scene): Predicted | null {
    const { newest, path } = this;
    if (newest === null || path === null) return null;
    const dt = this.seconds(at);
    if (dt === 0) return newest;
    path.plan(dt, this.settings.restitution, scene);
    const { pos, vel, acc } = path.at(dt);
    const isAtRest = at - newest.stamp > this.settings.extrapolationUsMax;
    return isAtRest ? { pos, vel: ZERO, acc: ZERO, rot: newest.rot } : { pos, vel, acc, rot: newest.rot };
  }

  isStale(at: number): boolean {
    return this.newest === null || at - this.newest.stamp > this.settings.timeoutUs;
  }
}
