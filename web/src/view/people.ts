// Keeps the drawn people in step with the rows that are heard: rows that the last frame updated get a new pose, and the
// others cost nothing.

import type { Other, Others } from '../client/others.ts';
import { ROW, SHOWN, SHOWN_ANGLE, SHOWN_VEL } from '../motion/crowd.ts';
import { halfHeight } from '../wire/shape.ts';
import type { Avatars } from './avatars.ts';

export class People {
  private others: Others | null = null;
  private changes = -1;
  /** By handle, the place among the avatars; -1 for rows that are not people. */
  private places = new Int32Array(64);
  /** The handles drawn now. */
  private drawn = new Set<number>();

  constructor(private readonly avatars: Avatars) {}

  /** Draws these: all of them if one came or went, otherwise only the updated rows. */
  draw(others: Others): void {
    if (others !== this.others || others.changes !== this.changes) this.arrange(others);
    const { places, avatars } = this;
    const { rows, fresh } = others;
    const { handle, frames, count } = fresh;
    for (let index = 0; index < count; index++) {
      const who = handle[index]!;
      const place = places[who]!;
      if (place < 0) continue;
      const at = who * ROW;
      const vx = rows[at + SHOWN_VEL]!;
      const vz = rows[at + SHOWN_VEL + 2]!;
      const speed = Math.sqrt(vx * vx + vz * vz);
      avatars.pose(place, rows[at + SHOWN]!, rows[at + SHOWN + 1]!, rows[at + SHOWN + 2]!, rows[at + SHOWN_ANGLE]!,
        speed, frames[index]!);
    }
  }

  /** Removes all. */
  clear(): void {
    for (const object of this.drawn) this.avatars.leave(object);
    this.drawn.clear();
    this.others = null;
  }

  private arrange(others: Others): void {
    this.others = others;
    this.changes = others.changes;
    const before = this.drawn;
    this.drawn = new Set();
    let most = 0;
    for (const handle of others.all.keys()) if (handle > most) most = handle;
    if (most >= this.places.length) this.places = new Int32Array(2 * most);
    this.places.fill(-1);
    for (const [handle, other] of others.all) if (isPerson(other)) this.places[handle] = this.enter(other);
    for (const object of before) if (!this.drawn.has(object)) this.avatars.leave(object);
  }

  private enter({ entered, heading }: Other): number {
    const half = halfHeight(entered.shape);
    this.drawn.add(entered.object);
    return this.avatars.enter(entered.object, half, entered.shape.form === 'capsule' ? entered.shape.radius : half,
      heading);
  }
}

const isPerson = ({ entered }: Other): boolean => entered.kind === 'Avatar';
