// Vectors of three doubles. Sums are taken in the order of `glam`, so that this twin has the bits of the Rust code.

export interface Vec {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

export const ZERO: Vec = { x: 0, y: 0, z: 0 };
export const UP: Vec = { x: 0, y: 1, z: 0 };

export const vec = (x: number, y: number, z: number): Vec => ({ x, y, z });
export const add = (a: Vec, b: Vec): Vec => ({ x: a.x + b.x, y: a.y + b.y, z: a.z + b.z });
export const sub = (a: Vec, b: Vec): Vec => ({ x: a.x - b.x, y: a.y - b.y, z: a.z - b.z });
export const scale = (a: Vec, by: number): Vec => ({ x: a.x * by, y: a.y * by, z: a.z * by });
export const dot = (a: Vec, b: Vec): number => a.x * b.x + a.y * b.y + a.z * b.z;
export const length = (a: Vec): number => Math.sqrt(dot(a, a));
export const isZero = (a: Vec): boolean => a.x === 0 && a.y === 0 && a.z === 0;
export const cross = (a: Vec, b: Vec): Vec => ({
  x: a.y * b.z - b.y * a.z,
  y: a.z * b.x - b.z * a.x,
  z: a.x * b.y - b.x * a.y,
});

/** At length one, or `otherwise` where there is no direction. */
export function normalizeOr(a: Vec, otherwise: Vec): Vec {
  const reciprocal = 1 / length(a);
  return Number.isFinite(reciprocal) && reciprocal > 0 ? scale(a, reciprocal) : otherwise;
}

export type Axis = 'x' | 'y' | 'z';
export const AXES: readonly Axis[] = ['x', 'y', 'z'];

/** The sign of a number, with that of zero: what `copysign` and `signum` look at. */
export const signOf = (value: number): number => (value < 0 || Object.is(value, -0) ? -1 : 1);
