// How the own avatar moves before the server has answered: as the server does where only the scene is concerned. The
// twin of `crates/client/src/walk.rs`.

import { contact } from '../motion/rounded.ts';
import { type Vec, add, dot, length, normalizeOr, scale, sub, vec, ZERO } from '../motion/vector.ts';
import { type GridPoint, STEPS_PER_METRE, UNTURNED } from '../wire/pose.ts';
import { type Shape, outerRadius } from '../wire/shape.ts';
import type { Solid, Walking } from '../wire/to_client.ts';

/** A wall is not touched but approached to this distance, in metres: the world's skin. */
const SKIN = 3 / 1_024;
const SLIDES_MAX = 3;
/** How far one walks before what carried one no longer does, in metres. */
const SUPPORT_REACH = 0.4;

export interface Walker {
  readonly pos: Vec;
  /** Metres per second; upwards is positive. */
  readonly vertical: number;
  readonly isGrounded: boolean;
  /** Where the server said that it stands: perhaps on something that is no ground here. */
  readonly support: Vec | null;
}

export const standing = (pos: Vec): Walker => ({ pos, vertical: 0, isGrounded: true, support: pos });

export const metres = (place: GridPoint): Vec => ({
  x: place[0] / STEPS_PER_METRE,
  y: place[1] / STEPS_PER_METRE,
  z: place[2] / STEPS_PER_METRE,
});

interface Obstacle {
  readonly pos: Vec;
  readonly half: Vec;
  readonly radius: number;
}

/** What is known of a world's fixed part, for one walker's solid. */
export class Ground {
  private readonly obstacles: Obstacle[] = [];
  private readonly low: Vec;
  private readonly high: Vec;
  private readonly halfHeight: number;
  private readonly radius: number;

  constructor(readonly walking: Walking, bounds: readonly [GridPoint, GridPoint], shape: Shape) {
    this.halfHeight = shape.form === 'capsule' ? shape.halfHeight : 0;
    this.radius = shape.form === 'capsule' ? shape.radius : outerRadius(shape);
    const body = vec(this.radius, this.radius + this.halfHeight, this.radius);
    this.low = add(metres(bounds[0]), body);
    this.high = sub(metres(bounds[1]), body);
  }

  /** One more thing that stands. What is turned is taken for the ball within it: one must not feel walls where none
   * are. */
  add({ shape, place, turn }: Pick<Solid, 'shape' | 'place' | 'turn'>): void {
    const isTurned = turn !== UNTURNED;
    let half: Vec = ZERO;
    let own: number;
    switch (shape.form) {
      case 'sphere':
        own = shape.radius;
        break;
      case 'capsule':
        own = shape.radius;
        if (!isTurned) half = vec(0, shape.halfHeight, 0);
        break;
      case 'box':
        own = isTurned ? Math.min(...shape.half) : 0;
        if (!isTurned) half = vec(...shape.half);
        break;
      case 'model':
        return;
    }
    this.obstacles.push({ pos: metres(place), half: add(half, vec(0, this.halfHeight, 0)), radius: own + this.radius });
  }

  /** A walker after one step of this length, with this wish. */
  step(walker: Walker, wish: Vec, isJump: boolean, seconds: number): Walker {
    const { speedMax, gravity, jumpSpeed, stepHeight } = this.walking;
    if (length(wish) > speedMax) wish = scale(normalizeOr(wish, ZERO), speedMax);
    if (gravity === 0) {
      const pos = this.slide(walker.pos, scale(wish, seconds));
      return { pos, vertical: 0, isGrounded: false, support: null };
    }
    const level = scale(vec(wish.x, 0, wish.z), seconds);
    let vertical = isJump && walker.isGrounded ? jumpSpeed : walker.vertical;
    // Up a step: lift the path, move, lower; worth it only if that gets farther.
    const straight = this.slide(walker.pos, level);
    let pos = straight;
    const isShort = length(sub(sub(straight, walker.pos), level)) > 1e-6;
    if (walker.isGrounded && isShort && vertical <= 0) {
      const lift = vec(0, stepHeight, 0);
      const lifted = this.advance(walker.pos, lift);
      const across = this.slide(lifted, level);
      const lowered = this.advance(across, scale(lift, -1));
      if (dot(level, sub(lowered, walker.pos)) > dot(level, sub(straight, walker.pos)) + 1e-9) pos = lowered;
    }
    vertical -= gravity * seconds;
    const fall = vec(0, vertical * seconds, 0);
    let landed = this.advance(pos, fall);
    let support = walker.support;
    if (support !== null) {
      const away = sub(pos, support);
      if (!(away.x * away.x + away.z * away.z < SUPPORT_REACH * SUPPORT_REACH)) support = null;
    }
    if (support !== null && pos.y >= support.y) landed = { ...landed, y: Math.max(landed.y, support.y) };
    const isStopped = Math.abs(landed.y - pos.y - fall.y) > 1e-9;
    return { pos: landed, vertical: isStopped ? 0 : vertical, isGrounded: isStopped && vertical < 0, support };
  }

  /** The share of a way that is free, for a point with this margin: what a camera asks. */
  free(from: Vec, way: Vec, margin: number): number {
    let free = 1;
    for (const obstacle of this.obstacles) {
      const half = { ...obstacle.half, y: obstacle.half.y - this.halfHeight };
      const radius = Math.max(obstacle.radius - this.radius, 0) + margin;
      const touch = contact(sub(from, obstacle.pos), way, half, radius, 1);
      if (touch !== null) free = Math.min(free, touch.time);
    }
    return free;
  }

  private slide(from: Vec, way: Vec): Vec {
    let pos = from;
    for (let round = 0; round < SLIDES_MAX; round++) {
      const touch = this.firstContact(pos, way);
      if (touch === null) return this.within(add(pos, way));
      const [time, normal] = touch;
      pos = add(pos, scale(way, time));
      const left = scale(way, 1 - time);
      way = sub(left, scale(normal, Math.min(dot(left, normal), 0)));
      if (from.y === pos.y) way = { ...way, y: 0 };
    }
    return this.within(pos);
  }

  private advance(from: Vec, way: Vec): Vec {
    const time = this.firstContact(from, way)?.[0] ?? 1;
    return this.within(add(from, scale(way, time)));
  }

  private firstContact(from: Vec, way: Vec): [number, Vec] | null {
    const far = length(way);
    if (far < 1e-12) return null;
    let first: { time: number; normal: Vec } | null = null;
    for (const { pos, half, radius } of this.obstacles) {
      const d = sub(from, pos);
      const reach = radius + far;
      if (Math.abs(d.x) > half.x + reach || Math.abs(d.y) > half.y + reach || Math.abs(d.z) > half.z + reach) continue;
      const touch = contact(d, way, half, radius, 1);
      if (touch !== null && (first === null || touch.time < first.time)) first = touch;
    }
    if (first === null) return null;
    // The skin, along the way: less of it where the surface is met at a slant, none where it is only grazed.
    const into = -dot(way, first.normal) / far;
    return [Math.max(first.time - SKIN / (far * Math.max(into, 0.1)), 0), first.normal];
  }

  private within(pos: Vec): Vec {
    const fit = (value: number, low: number, high: number) => Math.min(Math.max(value, low), Math.max(high, low));
    return {
      x: fit(pos.x, this.low.x, this.high.x),
      y: fit(pos.y, this.low.y, this.high.y),
      z: fit(pos.z, this.low.z, this.high.z),
    };
  }
}
