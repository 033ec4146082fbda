// The slow twin of a row: a replica, a display, and an acceleration that is smoothed. What a row of the
// crowd must equal.

import { Display, type Shown } from '../src/motion/convergence.ts';
import { Replica } from '../src/motion/replica.ts';
import type { Scene } from '../src/motion/scene.ts';
import { type Vec, ZERO, add, length, scale, sub } from '../src/motion/vector.ts';
import { type Quat, type Turn, quat } from '../src/wire/pose.ts';

export class SlowOther {
  readonly replica: Replica;
  private readonly display = new Display({ blendUs: 100_000, snapDistance: 5 });
  private velocity = { tick: 0, vel: ZERO };
  private acceleration: Vec = ZERO;

  constructor(radius: number, private readonly tickUs: number) {
    this.replica = new Replica({ radius, restitution: 0, extrapolationUsMax: 1_000_000, timeoutUs: 5_000_000 });
  }

  hear(tick: number, stamp: number, pos: Vec, vel: Vec, turn: Turn, isElsewhere: boolean, now: number,
    scene: Scene): void {
    const before = this.show(now, scene);
    this.accelerate(tick, vel, isElsewhere);
    const rot: Quat = quat(turn);
    if (!this.replica.handle(tick >>> 0, { stamp, pos, vel, acc: this.acceleration, rot })) return;
    const after = this.replica.predict(now, scene);
    if (before !== null && after !== null) this.display.updated(now, before, after, isElsewhere);
  }

  show(now: number, scene: Scene): Shown | null {
    const predicted = this.replica.predict(now, scene);
    return predicted === null ? null : this.display.shown(now, predicted, this.replica.settings.radius, scene);
  }

  private accelerate(tick: number, vel: Vec, isElsewhere: boolean): void {
    const last = this.velocity;
    this.velocity = { tick, vel };
    const ticks = tick - last.tick;
    if (isElsewhere || last.tick === 0 || ticks <= 0 || ticks > 8) {
      this.acceleration = ZERO;
      return;
    }
    const seen = scale(sub(vel, last.vel), 1e6 / (ticks * this.tickUs));
    const isKink = length(seen) > 12 || (vel.x === 0 && vel.y === 0 && vel.z === 0);
    const weight = 1 - 0.8 ** ticks;
    this.acceleration = isKink ? ZERO : add(scale(this.acceleration, 1 - weight), scale(seen, weight));
  }
}
