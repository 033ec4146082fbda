// Where a mesh is that changes its form: a flag in the wind, something that breathes. The twin of `Deformation` in
// `crates/world/src/rule.rs`.

type Triple = readonly [number, number, number];

export type Deformation =
  | { readonly kind: 'wave'; readonly along: Triple; readonly push: Triple; readonly length: number;
    readonly period_s: number }
  | { readonly kind: 'breathe'; readonly share: number; readonly period_s: number };

/** An angle after a number of rounds, whole ones left out: long sessions lose no digits. */
const turns = (rounds: number): number => (rounds - Math.floor(rounds)) * 2 * Math.PI;

/** Puts all vertices of a mesh at rest, three numbers each, where they are `seconds` later by its own clock. */
export class Forming {
  private readonly along: Triple;
  /** How far the mesh at rest reaches along the way of the wave. */
  private readonly ends: readonly [number, number];

  constructor(private readonly deformation: Deformation, private readonly rest: ArrayLike<number>) {
    const [x, y, z] = deformation.kind === 'wave' ? deformation.along : [0, 0, 0];
    const length = Math.sqrt(x * x + y * y + z * z);
    this.along = length > 0 ? [x / length, y / length, z / length] : [0, 0, 0];
    let [low, high] = [Infinity, -Infinity];
    for (let at = 0; at < rest.length; at += 3) {
      const way = this.way(at);
      low = Math.min(low, way);
      high = Math.max(high, way);
    }
    this.ends = [low, high];
  }

  place(seconds: number, places: { [index: number]: number }): void {
    const { deformation, rest } = this;
    if (deformation.kind === 'breathe') {
      const wide = 1 + deformation.share * Math.sin(turns(seconds / deformation.period_s));
      for (let at = 0; at < rest.length; at++) places[at] = rest[at]! * wide;
      return;
    }
    const { push, length, period_s } = deformation;
    const [low, high] = this.ends;
    const round = turns(seconds / period_s);
    for (let at = 0; at < rest.length; at += 3) {
      const way = this.way(at) - low;
      const far = (way / Math.max(high - low, 1e-9)) * Math.sin(turns(way / length) - round);
      for (let axis = 0; axis < 3; axis++) places[at + axis] = rest[at + axis]! + push[axis]! * far;
    }
  }

  private way(at: number): number {
    const { rest, along } = this;
    return rest[at]! * along[0] + rest[at + 1]! * along[1] + rest[at + 2]! * along[2];
  }
}
