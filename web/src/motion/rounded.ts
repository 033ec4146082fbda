// A moving point against a rounded box: the twin of `space::impact::rounded`, for the own avatar's walls.

import { type Touch, boxSeparation, passage } from './ballistic.ts';
import { AXES, type Axis, type Vec, ZERO, add, dot, length, normalizeOr, scale, signOf, sub } from './vector.ts';

type Mutable = { x: number; y: number; z: number };

/** The first moment of `0..=until` at which the point `d + v t` touches the box around the origin, rounded by `r`. */
export function contact(d: Vec, v: Vec, half: Vec, r: number, until: number): Touch | null {
  const outsideStart = sub(d, { x: clamp(d.x, half.x), y: clamp(d.y, half.y), z: clamp(d.z, half.z) });
  if (dot(outsideStart, outsideStart) <= r * r) {
    const [, normal] = boxSeparation(d, half, r);
    return dot(v, normal) < 0 ? { time: 0, normal } : null;
  }
  if (half.x === 0 && half.z === 0) return edge(d, v, half, 'y', half.y, r, until);
  const entered = slabEntry(d, v, { x: half.x + r, y: half.y + r, z: half.z + r });
  if (entered === null) return null;
  const [entry, axis] = entered;
  if (entry > until) return null;
  const at = add(d, scale(v, entry));
  const isOutside = (axis: Axis) => Math.abs(at[axis]) > half[axis];
  const beyond = AXES.filter((other) => other !== axis && isOutside(other)).length;
  if (beyond === 0) return { time: entry, normal: { ...ZERO, [axis]: -signOf(v[axis]) } };
  // It passes the box's corner region: the edges that meet there decide, with their rounded ends.
  const corner = { x: half.x * signOf(at.x), y: half.y * signOf(at.y), z: half.z * signOf(at.z) };
  let first: Touch | null = null;
  for (const along of AXES) {
    if (beyond === 1 && isOutside(along)) continue;
    const found = edge(d, v, corner, along, half[along], r, until);
    if (found !== null && (first === null || found.time < first.time)) first = found;
  }
  return first;
}

const clamp = (value: number, half: number): number => Math.min(Math.max(value, -half), half);

function slabEntry(d: Vec, v: Vec, half: Vec): [number, Axis] | null {
  let enter = 0;
  let exit = Infinity;
  let axis: Axis | null = null;
  for (const index of AXES) {
    if (v[index] === 0) {
      if (Math.abs(d[index]) > half[index]) return null;
      continue;
    }
    const towards = signOf(v[index]);
    const near = (-towards * half[index] - d[index]) / v[index];
    const far = (towards * half[index] - d[index]) / v[index];
    if (near > enter || (axis === null && near >= enter)) {
      enter = near;
      axis = index;
    }
    exit = Math.min(exit, far);
  }
  if (enter > exit) return null;
  if (axis === null) {
    // Inside the box and outside what is rounded: beside an edge or a corner, which the caller tries.
    axis = 'x';
    for (const index of AXES) {
      if (Math.abs(d[index]) - half[index] >= Math.abs(d[axis]) - half[axis]) axis = index;
    }
  }
  return [enter, axis];
}

const NEXT: Record<Axis, [Axis, Axis]> = { x: ['y', 'z'], y: ['z', 'x'], z: ['x', 'y'] };

/** The first contact with one edge, rounded by `r` along its sides and at both ends. */
function edge(d: Vec, v: Vec, corner: Vec, along: Axis, halfLength: number, r: number, until: number): Touch | null {
  const [one, other] = NEXT[along];
  const dx = d[one] - corner[one];
  const dy = d[other] - corner[other];
  const vx = v[one];
  const vy = v[other];
  const speed = vx * vx + vy * vy;
  const away = dx * dx + dy * dy - r * r;
  let time = 0;
  if (away > 0) {
    const b = dx * vx + dy * vy;
    const turned = dx * vy - dy * vx;
    const discriminant = speed * (r * r) - turned * turned;
    if (b >= 0 || !(discriminant >= 0)) return null;
    time = away / (-b + Math.sqrt(discriminant));
  }
  const height = d[along] + v[along] * time;
  if (Math.abs(height) <= halfLength) {
    if (away <= 0 || time > until) return null;
    const normal: Mutable = { x: 0, y: 0, z: 0 };
    normal[one] = dx + vx * time;
    normal[other] = dy + vy * time;
    return { time, normal: normalizeOr(normal, ZERO) };
  }
  // It reaches the line's sides beyond an end: only that end's ball can be met.
  const end: Mutable = { ...corner };
  end[along] = halfLength * signOf(height);
  const from = sub(d, end);
  const met = ballsMeet(from, v, r);
  if (met === null || met > until) return null;
  return { time: met, normal: normalizeOr(add(from, scale(v, met)), ZERO) };
}

/** The first contact of two balls from now on: zero when they overlap, or touch and approach. */
function ballsMeet(d: Vec, v: Vec, r: number): number | null {
  const c = dot(d, d) - r * r;
  const b = dot(d, v);
  if (c < 0 || (c === 0 && b < 0)) return 0;
  if (b >= 0 || length(v) === 0) return null;
  return passage(d, v, r)?.[0] ?? null;
}
