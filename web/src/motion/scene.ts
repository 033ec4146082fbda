// What stands in the way of others: balls and boxes along the axes, with an index.

import { type Ballistic, type Touch, ballContact, boxContact, boxSeparation } from './ballistic.ts';
import { UP, type Vec, length, sub } from './vector.ts';

export type SceneObject =
  | { readonly form: 'ball'; readonly pos: Vec; readonly radius: number }
  | { readonly form: 'cuboid'; readonly pos: Vec; readonly half: Vec };

/** Cells are so wide, in metres: about what a walker passes within the time that is predicted. */
const CELL = 4;
/** The most cells; where a scene is larger, they are wider. */
const CELLS_MAX = 1 << 16;

/** All scene objects. */
export class Scene {
  /** Objects that cover too many cells to be in each. */
  private readonly wide: number[] = [];
  /** Six numbers for each object: from and to along x, y and z. */
  private readonly boxes: Float64Array;
  private cell = CELL;
  private low = { x: 0, z: 0 };
  private counts = { x: 0, z: 0 };
  /** Where the objects of each cell begin in `list`; those of the last end with it. */
  private starts = new Int32Array(1);
  private list = new Int32Array(0);

  constructor(readonly objects: readonly SceneObject[]) {
    this.boxes = new Float64Array(6 * objects.length);
    objects.forEach((object, index) => {
      const half = extent(object);
      const { pos } = object;
      this.boxes.set([pos.x - half.x, pos.x + half.x, pos.y - half.y, pos.y + half.y, pos.z - half.z, pos.z + half.z],
        6 * index);
    });
    this.arrange();
  }

  /** Visits every object whose box touches this one; one in several cells is visited several times. */
  near(low: Vec, high: Vec, visit: (object: SceneObject, index: number) => void): void {
    for (const index of this.wide) this.look(index, low, high, visit);
    if (this.list.length === 0) return;
    const [x0, x1, z0, z1] = [this.column(low.x), this.column(high.x), this.row(low.z), this.row(high.z)];
    for (let z = z0; z <= z1; z++) {
      for (let x = x0; x <= x1; x++) {
        const cell = z * this.counts.x + x;
        for (let at = this.starts[cell]!; at < this.starts[cell + 1]!; at++) this.look(this.list[at]!, low, high,
          visit);
      }
    }
  }

  /** Whether anything's box touches this one: the common answer is no, and costs nothing but a look. */
  isNear(x0: number, y0: number, z0: number, x1: number, y1: number, z1: number): boolean {
    const { wide, starts, list, counts } = this;
    for (let at = 0; at < wide.length; at++) if (this.touches(wide[at]!, x0, y0, z0, x1, y1, z1)) return true;
    if (list.length === 0) return false;
    const [cx0, cx1, cz0, cz1] = [this.column(x0), this.column(x1), this.row(z0), this.row(z1)];
    for (let z = cz0; z <= cz1; z++) {
      for (let x = cx0; x <= cx1; x++) {
        const cell = z * counts.x + x;
        const end = starts[cell + 1]!;
        for (let at = starts[cell]!; at < end; at++) if (this.touches(list[at]!, x0, y0, z0, x1, y1, z1)) return true;
      }
    }
    return false;
  }

  /** Sorts the objects into cells. What is beyond the edge belongs to the cells at the edge: nothing comes farther
   * apart. */
  private arrange(): void {
    const { boxes } = this;
    const isWide = (index: number) => {
      const [x, z] = [boxes[6 * index + 1]! - boxes[6 * index]!, boxes[6 * index + 5]! - boxes[6 * index + 4]!];
      return (x / CELL + 1) * (z / CELL + 1) > 256;
    };
    const narrow: number[] = [];
    this.objects.forEach((_, index) => (isWide(index) ? this.wide : narrow).push(index));
    if (narrow.length === 0) return;
    const edge = (side: number, pick: (...all: number[]) => number) =>
      narrow.reduce((most, index) => pick(most, boxes[6 * index + side]!), boxes[6 * narrow[0]! + side]!);
    this.low = { x: edge(0, Math.min), z: edge(4, Math.min) };
    const high = { x: edge(1, Math.max), z: edge(5, Math.max) };
    const across = (from: number, to: number) => Math.floor((to - from) / this.cell) + 1;
    while (across(this.low.x, high.x) * across(this.low.z, high.z) > CELLS_MAX) this.cell *= 2;
    this.counts = { x: across(this.low.x, high.x), z: across(this.low.z, high.z) };
    const inside: number[][] = Array.from({ length: this.counts.x * this.counts.z }, () => []);
    for (const index of narrow) {
      const at = 6 * index;
      for (let z = this.row(boxes[at + 4]!); z <= this.row(boxes[at + 5]!); z++) {
        for (let x = this.column(boxes[at]!); x <= this.column(boxes[at + 1]!);
          x++) inside[z * this.counts.x + x]!.push(index);
      }
    }
    this.starts = new Int32Array(inside.length + 1);
    inside.forEach((list, cell) => (this.starts[cell + 1] = this.starts[cell]! + list.length));
    this.list = Int32Array.from(inside.flat());
  }

  private column(x: number): number {
    const at = Math.floor((x - this.low.x) / this.cell);
    return at < 0 ? 0 : at >= this.counts.x ? this.counts.x - 1 : at;
  }

  private row(z: number): number {
    const at = Math.floor((z - this.low.z) / this.cell);
    return at < 0 ? 0 : at >= this.counts.z ? this.counts.z - 1 : at;
  }

  private touches(index: number, x0: number, y0: number, z0: number, x1: number, y1: number, z1: number): boolean {
    const { boxes } = this;
    const at = 6 * index;
    return boxes[at]! <= x1 && boxes[at + 1]! >= x0 && boxes[at + 2]! <= y1 && boxes[at + 3]! >= y0
      && boxes[at + 4]! <= z1 && boxes[at + 5]! >= z0;
  }

  private look(index: number, low: Vec, high: Vec, visit: (object: SceneObject, index: number) => void): void {
    if (this.touches(index, low.x, low.y, low.z, high.x, high.y, high.z)) visit(this.objects[index]!, index);
  }
}

function extent(object: SceneObject): Vec {
  return object.form === 'cuboid' ? object.half : { x: object.radius, y: object.radius, z: object.radius };
}

/** How far a ball is from an object, negative inside, and which way out is shortest. */
export function separation(object: SceneObject, center: Vec, radius: number): [number, Vec] {
  const place = sub(center, object.pos);
  if (object.form === 'cuboid') return boxSeparation(place, object.half, radius);
  const distance = length(place);
  const normal = distance > 0 ? { x: place.x / distance, y: place.y / distance, z: place.z / distance } : UP;
  return [distance - object.radius - radius, normal];
}

/** The first contact of a ball that moves so, within the closed interval. */
export function contact(object: SceneObject, motion: Ballistic, radius: number, from: number,
  to: number): Touch | null {
  const relative = { pos: sub(motion.pos, object.pos), vel: motion.vel, acc: motion.acc };
  if (object.form === 'cuboid') return boxContact(relative, object.half, radius, from, to);
  return ballContact(relative, radius + object.radius, from, to);
}
