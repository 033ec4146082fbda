// Remote collision prediction: the path from an update's stamp onwards, with the bounces off what stands worked out.
// The twin of `motion::collision_prediction::Trajectory` for motion with constant acceleration.

import { type Ballistic, type Touch, bounced, deflected, positionAt, reach, velocityAt } from './ballistic.ts';
import { type Scene, contact } from './scene.ts';
import { type Vec, ZERO } from './vector.ts';

/** Bounces that are followed; after that the replica stays at the last contact. */
export const CONTACTS_MAX = 8;
/** Contacts are looked for in spans of this length, in seconds. */
export const SPAN_S = 0.5;

interface Leg {
  readonly from: number;
  readonly curve: Ballistic;
}

export class Trajectory {
  private legs: Leg[];
  /** Seconds from the start up to which the contacts are known. */
  planned = 0;

  /** The trajectory of a ball that starts at `start`, a moment in microseconds. */
  constructor(readonly start: number, curve: Ballistic, readonly radius: number) {
    this.legs = [{ from: 0, curve }];
  }

  copy(): Trajectory {
    const copy = new Trajectory(this.start, this.legs[0]!.curve, this.radius);
    copy.legs = [...this.legs];
    copy.planned = this.planned;
    return copy;
  }

  get isStopped(): boolean {
    return this.legs.length > CONTACTS_MAX;
  }

  get hasContacts(): boolean {
    return this.legs.length > 1;
  }

  /** When each contact happens, in seconds from the start. */
  contacts(): number[] {
    return this.legs.slice(1).map((leg) => leg.from);
  }

  /** Finds the contacts up to `dt` seconds after the start. */
  plan(dt: number, restitution: number, scene: Scene): void {
    while (this.planned < dt && !this.isStopped) this.planSpan(restitution, scene);
  }

  at(dt: number): Ballistic {
    const leg = this.legAt(Math.max(dt, 0));
    const since = Math.max(dt, 0) - leg.from;
    return { pos: positionAt(leg.curve, since), vel: velocityAt(leg.curve, since), acc: leg.curve.acc };
  }

  accelerationAt(dt: number): Vec {
    return this.legAt(dt).curve.acc;
  }

  /** Turns the trajectory to another velocity, and forgets what was planned after that. */
  deflect(dt: number, vel: Vec, normal: Vec): void {
    const leg = this.legAt(dt);
    const curve =
      this.legs.length < CONTACTS_MAX
        ? deflected(leg.curve, dt - leg.from, vel, normal)
        : { pos: this.at(dt).pos, vel: ZERO, acc: ZERO };
    this.legs = this.legs.filter((leg, index) => index === 0 || leg.from <= dt);
    this.legs.push({ from: dt, curve });
    this.planned = dt;
  }

  private legAt(dt: number): Leg {
    for (let index = this.legs.length - 1; index > 0; index--) {
      const leg = this.legs[index]!;
      if (leg.from <= dt) return leg;
    }
    return this.legs[0]!;
  }

  private planSpan(restitution: number, scene: Scene): void {
    const leg = this.legs[this.legs.length - 1]!;
    const from = this.planned - leg.from;
    const to = from + SPAN_S;
    const [low, high] = reach(leg.curve, from, to);
    // Wider by a hair, so that rounding in the index cannot hide a touch.
    const margin = this.radius + 1e-6;
    let first: Touch | null = null;
    let firstIndex = 0;
    const wideLow = { x: low.x - margin, y: low.y - margin, z: low.z - margin };
    const wideHigh = { x: high.x + margin, y: high.y + margin, z: high.z + margin };
    scene.near(wideLow, wideHigh, (object, index) => {
      const touch = contact(object, leg.curve, this.radius, from, to);
      if (touch === null) return;
      if (first === null || touch.time < first.time || (touch.time === first.time && index < firstIndex)) {
        first = touch;
        firstIndex = index;
      }
    });
    const touch = first as Touch | null;
    if (touch === null) {
      this.planned += SPAN_S;
      return;
    }
    const vel = bounced(velocityAt(leg.curve, touch.time), touch.normal, restitution);
    this.deflect(leg.from + touch.time, vel, touch.normal);
  }
}
