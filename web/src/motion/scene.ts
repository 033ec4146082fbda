// What stands in the way of others: balls and boxes along the axes, with an index.

import { type Ballistic, type Touch, ballContact, boxContact, boxSeparation } from './ballistic.ts';
import { UP, type Vec, length, sub } from './vector.ts';

export type SceneObject =
  | { readonly form: 'ball'; readonly pos: Vec; readonly radius: number }
  | { readonly form: 'cuboid'; readonly pos: Vec; readonly half: Vec };

/** Cells are so wide, in metres: about what a walker passes within the time that is predicted. */
const CELL = 4;

/** All scene objects. */
export class Scene {
  private readonly cells = new Map<number, number[]>();
  /** Objects that cover too many cells to be in each. */
  private readonly wide: number[] = [];
  /** Six numbers for each object: from and to along x, y and z. */
  private readonly boxes: Float64Array;

  constructor(readonly objects: readonly SceneObject[]) {
    this.boxes = new Float64Array(6 * objects.length);
    objects.forEach((object, index) => {
      const half = extent(object);
      const { pos } = object;
      this.boxes.set([pos.x - half.x, pos.x + half.x, pos.y - half.y, pos.y + half.y, pos.z - half.z, pos.z + half.z], 6 * index);
      const [x0, x1] = [cell(object.pos.x - half.x), cell(object.pos.x + half.x)];
      const [z0, z1] = [cell(object.pos.z - half.z), cell(object.pos.z + half.z)];
      if ((x1 - x0 + 1) * (z1 - z0 + 1) > 256) {
        this.wide.push(index);
        return;
      }
      for (let x = x0; x <= x1; x++) {
        for (let z = z0; z <= z1; z++) {
          const key = cellKey(x, z);
          const list = this.cells.get(key);
          if (list === undefined) this.cells.set(key, [index]);
          else list.push(index);
        }
      }
    });
  }

  /** Visits every object whose box touches this one; one in several cells is visited several times. */
  near(low: Vec, high: Vec, visit: (object: SceneObject, index: number) => void): void {
    if (this.objects.length === 0) return;
    const [x0, x1, z0, z1] = [cell(low.x), cell(high.x), cell(low.z), cell(high.z)];
    if ((x1 - x0 + 1) * (z1 - z0 + 1) > this.objects.length) {
      for (let index = 0; index < this.objects.length; index++) this.look(index, low, high, visit);
      return;
    }
    for (let x = x0; x <= x1; x++) {
      for (let z = z0; z <= z1; z++) {
        const list = this.cells.get(cellKey(x, z));
        if (list === undefined) continue;
        for (const index of list) this.look(index, low, high, visit);
      }
    }
    for (const index of this.wide) this.look(index, low, high, visit);
  }

  /** Whether anything's box touches this one: the common answer is no, and costs nothing but a look. */
  isNear(x0: number, y0: number, z0: number, x1: number, y1: number, z1: number): boolean {
    const { boxes } = this;
    if (this.objects.length === 0) return false;
    const touches = (at: number) =>
      boxes[at]! <= x1 && boxes[at + 1]! >= x0 && boxes[at + 2]! <= y1 && boxes[at + 3]! >= y0 && boxes[at + 4]! <= z1 && boxes[at + 5]! >= z0;
    for (const index of this.wide) if (touches(6 * index)) return true;
    const [cx1, cz0, cz1] = [cell(x1), cell(z0), cell(z1)];
    for (let x = cell(x0); x <= cx1; x++) {
      for (let z = cz0; z <= cz1; z++) {
        const list = this.cells.get(cellKey(x, z));
        if (list === undefined) continue;
        for (const index of list) if (touches(6 * index)) return true;
      }
    }
    return false;
  }

  private look(index: number, low: Vec, high: Vec, visit: (object: SceneObject, index: number) => void): void {
    const { boxes } = this;
    const at = 6 * index;
    const isNear =
      boxes[at]! <= high.x && boxes[at + 1]! >= low.x &&
      boxes[at + 2]! <= high.y && boxes[at + 3]! >= low.y &&
      boxes[at + 4]! <= high.z && boxes[at + 5]! >= low.z;
    if (isNear) visit(this.objects[index]!, index);
  }
}

const cell = (at: number): number => Math.floor(at / CELL);
const cellKey = (x: number, z: number): number => (x + 32_768) * 65_536 + (z + 32_768);

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
export function contact(object: SceneObject, motion: Ballistic, radius: number, from: number, to: number): Touch | null {
  const relative = { pos: sub(motion.pos, object.pos), vel: motion.vel, acc: motion.acc };
  if (object.form === 'cuboid') return boxContact(relative, object.half, radius, from, to);
  return ballContact(relative, radius + object.radius, from, to);
}
