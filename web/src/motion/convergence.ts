// From where a replica is shown to where it should be, without a jump that a viewer sees: the offset and its speed go
// to zero together. The twin of `motion::convergence` with Hermite's curve.

import type { Quat } from '../wire/pose.ts';
import type { Predicted } from './replica.ts';
import { between } from './rotation.ts';
import { type Scene, separation } from './scene.ts';
import { type Vec, length, scale, sub } from './vector.ts';

export interface Shown {
  readonly pos: Vec;
  readonly vel: Vec;
  readonly rot: Quat;
}

export interface ConvergenceSettings {
  readonly blendUs: number;
  /** An offset larger than this is jumped over, in metres. */
  readonly snapDistance: number;
}

interface Blend {
  readonly from: number;
  readonly shown: Shown;
  readonly start: Predicted;
}

export class Display {
  private blend: Blend | null = null;

  constructor(private readonly settings: ConvergenceSettings) {}

  /** An update has changed the prediction: `before` is what is shown at `at`, `after` what is predicted now. */
  updated(at: number, before: Shown, after: Predicted, isTeleport: boolean): void {
    const offset = length(sub(before.pos, after.pos));
    const isJump = isTeleport || offset > this.settings.snapDistance;
    this.blend = isJump ? null : { from: at, shown: before, start: after };
  }

  shown(at: number, predicted: Predicted, radius: number, scene: Scene): Shown {
    const shown = this.blended(at, predicted);
    const pos = pushedOut(shown.pos, radius, scene);
    return pos === shown.pos ? shown : { pos, vel: shown.vel, rot: shown.rot };
  }

  private blended(at: number, predicted: Predicted): Shown {
    const { blend } = this;
    if (blend === null || at - blend.from >= this.settings.blendUs) return predicted;
    const t = Math.max(at - blend.from, 0) * 1e-6;
    const whole = this.settings.blendUs * 1e-6;
    const u = t / whole;
    const offset = sub(blend.shown.pos, blend.start.pos);
    const offsetVel = sub(blend.shown.vel, blend.start.vel);
    const place = 2 * u * u * u - 3 * u * u + 1;
    const speed = whole * (u * u * u - 2 * u * u + u);
    const dPlace = (6 * u * u - 6 * u) / whole;
    const dSpeed = 3 * u * u - 4 * u + 1;
    const blended = (from: Vec, a: number, b: number): Vec => ({
      x: from.x + offset.x * a + offsetVel.x * b,
      y: from.y + offset.y * a + offsetVel.y * b,
      z: from.z + offset.z * a + offsetVel.z * b,
    });
    return {
      pos: blended(predicted.pos, place, speed),
      vel: blended(predicted.vel, dPlace, dSpeed),
      rot: between(blend.shown.rot, predicted.rot, u),
    };
  }
}

/** Rounds of pushing: a corner of three faces needs three. */
const PUSHES_MAX = 4;

/** Moves a ball out of what it is in. */
export function pushedOut(pos: Vec, radius: number, scene: Scene): Vec {
  for (let round = 0; round < PUSHES_MAX; round++) {
    if (!scene.isNear(pos.x - radius, pos.y - radius, pos.z - radius, pos.x + radius, pos.y + radius,
      pos.z + radius)) return pos;
    let deepest = 0;
    let push: Vec | null = null;
    const low = { x: pos.x - radius, y: pos.y - radius, z: pos.z - radius };
    const high = { x: pos.x + radius, y: pos.y + radius, z: pos.z + radius };
    const center = pos;
    scene.near(low, high, (object) => {
      const [gap, normal] = separation(object, center, radius);
      if (gap < deepest) {
        deepest = gap;
        push = normal;
      }
    });
    if (push === null) return pos;
    pos = sub(pos, scale(push, deepest));
  }
  return pos;
}
