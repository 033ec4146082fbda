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

  constructor(readonly objects: readonly SceneObject[]) {
    objects.forEach((object, index) => {
      const half = extent(object);
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
    const look = (index: number) => {
      const object = this.objects[index]!;
      const half = extent(object);
      const { pos } = object;
      const isNear =
        pos.x - half.x <= high.x && pos.x + half.x >= low.x &&
        pos.y - half.y <= high.y && pos.y + half.y >= low.y &&
        pos.z - half.z <= high.z && pos.z + half.z >= low.z;
      if (isNear) visit(object, index);
    };
    const [x0, x1, z0, z1] = [cell(low.x), cell(high.x), cell(low.z), cell(high.z)];
    if ((x1 - x0 + 1) * (z1 - z0 + 1) > this.objects.length) {
      for (let index = 0; index < this.objects.length; index++) look(index);
      return;
    }
    for (let x = x0; x <= x1; x++) {
      for (let z = z0; z <= z1; z++) this.cells.get(cellKey(x, z))?.forEach(look);
    }
    this.wide.forEach(look);
  }
}

const cell = (at: number): number => Math.floor(at / CELL);
const cellKey = (x: number, z: number): number => (x + 32_768) * 65_536 + (z + 32_768);
const balls = new Map<number, Vec>();

function extent(object: SceneObject): Vec {
  if (object.form === 'cuboid') return object.half;
  let half = balls.get(object.radius);
  if (half === undefined) {
    half = { x: object.radius, y: object.radius, z: object.radius };
    balls.set(object.radius, half);
  }
  return half;
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
