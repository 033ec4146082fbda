// What something looks like to a collision.

import type { Reader } from './codec.ts';

const EXTENT_MAX = 65_536;
const MODEL_MAX = 64;

export type Shape =
  | { readonly form: 'sphere'; readonly radius: number }
  | { readonly form: 'box'; readonly half: readonly [number, number, number] }
  | { readonly form: 'capsule'; readonly halfHeight: number; readonly radius: number }
  | { readonly form: 'model'; readonly name: string; readonly radius: number };

export function readShape(reader: Reader): Shape {
  const size = () => reader.f32(0, EXTENT_MAX, 'shape');
  switch (reader.u8('shape')) {
    case 0:
      return { form: 'sphere', radius: size() };
    case 1:
      return { form: 'box', half: [size(), size(), size()] };
    case 2:
      return { form: 'capsule', halfHeight: size(), radius: size() };
    case 3:
      return { form: 'model', name: reader.text(MODEL_MAX, 'shape'), radius: size() };
    default:
      throw reader.refuse('shape');
  }
}

/** The radius of a ball around the middle that holds it. */
export function outerRadius(shape: Shape): number {
  switch (shape.form) {
    case 'box':
      return Math.hypot(...shape.half);
    case 'capsule':
      return shape.halfHeight + shape.radius;
    default:
      return shape.radius;
  }
}

/** How far it reaches upwards from its middle. */
export function halfHeight(shape: Shape): number {
  return shape.form === 'box' ? shape.half[1] : outerRadius(shape);
}
