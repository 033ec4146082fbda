// Motion with constant acceleration: the twin of `space::impact::Ballistic`, and of contacts with boxes and balls.

import { advance } from './advance.ts';
import { AXES, type Vec, ZERO, add, cross, dot, isZero, length, normalizeOr, scale, signOf, sub,
  UP } from './vector.ts';

export interface Ballistic {
  readonly pos: Vec;
  readonly vel: Vec;
  readonly acc: Vec;
}

/** When something is touched, and in which direction the surface pushes. */
export interface Touch {
  readonly time: number;
  readonly normal: Vec;
}

export function positionAt({ pos, vel, acc }: Ballistic, t: number): Vec {
  const half = 0.5 * t * t;
  return {
    x: pos.x + vel.x * t + acc.x * half,
    y: pos.y + vel.y * t + acc.y * half,
    z: pos.z + vel.z * t + acc.z * half,
  };
}

export function velocityAt({ vel, acc }: Ballistic, t: number): Vec {
  return { x: vel.x + acc.x * t, y: vel.y + acc.y * t, z: vel.z + acc.z * t };
}

/** A box around the path between two moments. */
export function reach(motion: Ballistic, from: number, to: number): [Vec, Vec] {
  const start = positionAt(motion, from);
  const end = positionAt(motion, to);
  const span = to - from;
  const part = 0.125 * span * span;
  const { acc } = motion;
  const low = (a: number, b: number, bulge: number) => Math.min(a, b) - Math.abs(bulge) * part;
  const high = (a: number, b: number, bulge: number) => Math.max(a, b) + Math.abs(bulge) * part;
  return [
    { x: low(start.x, end.x, acc.x), y: low(start.y, end.y, acc.y), z: low(start.z, end.z, acc.z) },
    { x: high(start.x, end.x, acc.x), y: high(start.y, end.y, acc.y), z: high(start.z, end.z, acc.z) },
  ];
}

const clamp = (value: number, half: number): number => (value < -half ? -half : value > half ? half : value);

/** How far a ball is from a box around the origin, negative inside, and which way out is shortest. */
export function boxSeparation(pos: Vec, half: Vec, radius: number): [number, Vec] {
  const outside = { x: pos.x - clamp(pos.x, half.x), y: pos.y - clamp(pos.y, half.y), z: pos.z - clamp(pos.z, half.z) };
  const distance = length(outside);
  if (distance > 0) {
    return [distance - radius, { x: outside.x / distance, y: outside.y / distance, z: outside.z / distance }];
  }
  const depth = { x: half.x - Math.abs(pos.x), y: half.y - Math.abs(pos.y), z: half.z - Math.abs(pos.z) };
  if (depth.x <= depth.y && depth.x <= depth.z) return [-depth.x - radius, { x: signOf(pos.x), y: 0, z: 0 }];
  if (depth.y <= depth.z) return [-depth.y - radius, { x: 0, y: signOf(pos.y), z: 0 }];
  return [-depth.z - radius, { x: 0, y: 0, z: signOf(pos.z) }];
}

/** The first moment at which a ball, moving relative to a box around the origin, touches it while approaching. */
export function boxContact(motion: Ballistic, half: Vec, radius: number, from: number, to: number): Touch | null {
  const [gap, normal] = boxSeparation(positionAt(motion, from), half, radius);
  if (gap <= 0 && dot(velocityAt(motion, from), normal) < 0) return { time: from, normal };
  const flat = faces(motion, half, radius, from, to);
  const until = flat === null ? to : flat.time;
  if (staysOverOneFace(motion, half, from, until)) return flat;
  const time = advance(from, until, length(motion.acc), 1e-9 * (1 + radius), (t) => {
    const [gap, normal] = boxSeparation(positionAt(motion, t), half, radius);
    return { gap, rate: dot(velocityAt(motion, t), normal) };
  });
  if (time !== null && time < until) {
    return { time, normal: boxSeparation(positionAt(motion, time), half, radius)[1] };
  }
  return flat;
}

function faces(motion: Ballistic, half: Vec, radius: number, from: number, to: number): Touch | null {
  let first: Touch | null = null;
  for (const axis of AXES) {
    for (const side of [-1, 1]) {
      const gap = side * motion.pos[axis] - half[axis] - radius;
      const rate = side * motion.vel[axis];
      const acceleration = side * motion.acc[axis];
      if (gap + rate * from + 0.5 * acceleration * from * from < -radius) continue;
      const time = faceContact(gap, rate, acceleration, from, to);
      if (time === null) continue;
      const foot = positionAt(motion, time);
      const isOnFace = AXES.every((other) => other === axis || Math.abs(foot[other]) <= half[other]);
      if (isOnFace && (first === null || time < first.time)) first = { time, normal: { ...ZERO, [axis]: side } };
    }
  }
  return first;
}

/** The first moment at which a gap that changes so is zero and closing. */
function faceContact(gap: number, rate: number, acceleration: number, from: number, to: number): number | null {
  const rateAt = (t: number) => rate + acceleration * t;
  if (gap + rate * from + 0.5 * acceleration * from * from <= 0 && rateAt(from) < 0) return from;
  const [one, other] = roots(0.5 * acceleration, rate, gap);
  const isValid = (t: number) => t >= from && t <= to && rateAt(t) < 0;
  const [early, late] = one <= other ? [one, other] : [other, one];
  return isValid(early) ? early : isValid(late) ? late : null;
}

/** Both roots of `a t² + b t + c`, by the pair that never subtracts near equals. */
function roots(a: number, b: number, c: number): [number, number] {
  if (a === 0) return b === 0 ? [NaN, NaN] : [-c / b, -c / b];
  const discriminant = b * b - 4 * a * c;
  if (!(discriminant >= 0)) return [NaN, NaN];
  const q = -0.5 * (b + signOf(b) * Math.sqrt(discriminant));
  return q === 0 ? [0, 0] : [q / a, c / q];
}

function staysOverOneFace(motion: Ballistic, half: Vec, from: number, to: number): boolean {
  const [low, high] = reach(motion, from, to);
  return AXES.filter((axis) => low[axis] >= -half[axis] && high[axis] <= half[axis]).length >= 2;
}

/** When a ball meets another of summed radius `r` at the origin, approaching. */
export function ballContact(motion: Ballistic, r: number, from: number, to: number): Touch | null {
  let time: number | null;
  if (isZero(motion.acc)) {
    const passed = passage(motion.pos, motion.vel, r);
    if (passed === null) return null;
    time = Math.max(passed[0], from);
    const isClosing = dot(positionAt(motion, time), motion.vel) < 0;
    if (!(isClosing && time <= to && passed[1] >= from)) return null;
  } else {
    time = advance(from, to, length(motion.acc), 1e-9 * (1 + r), (t) => ballProbe(motion, r, t));
    if (time === null) return null;
  }
  return { time, normal: normalizeOr(positionAt(motion, time), UP) };
}

function ballProbe(motion: Ballistic, r: number, t: number): { gap: number; rate: number } {
  const d = positionAt(motion, t);
  const v = velocityAt(motion, t);
  const distance = length(d);
  return { gap: distance - r, rate: distance > 0 ? dot(d, v) / distance : -length(v) };
}

/** From when to when two balls in uniform motion overlap. */
export function passage(d: Vec, v: Vec, r: number): [number, number] | null {
  const a = dot(v, v);
  if (a === 0) return null;
  const b = dot(d, v);
  const c = dot(d, d) - r * r;
  const turned = cross(d, v);
  const discriminant = a * (r * r) - dot(turned, turned);
  if (!(discriminant >= 0)) return null;
  const s = Math.sqrt(discriminant);
  if (b < 0) return [c / (-b + s), (-b + s) / a];
  if (b + s > 0) return [(-b - s) / a, c / (-b - s)];
  return [0, 0];
}

/** Motion after a bounce: another velocity, and an acceleration that is mirrored as velocity is. */
export function deflected(motion: Ballistic, dt: number, vel: Vec, normal: Vec): Ballistic {
  const acc = sub(motion.acc, scale(normal, 2 * dot(motion.acc, normal)));
  return { pos: positionAt(motion, dt), vel, acc };
}

/** The velocity after touching a surface, of which a share is given back. */
export function bounced(vel: Vec, normal: Vec, restitution: number): Vec {
  return add(vel, scale(normal, -((1 + restitution) * dot(vel, normal))));
}
