// People: rounded bodies with a face, all drawn at once. They sway a little when they stand, lean into their turns and
// give way when they touch.

import * as three from 'three';
import { mergeGeometries } from 'three/examples/jsm/utils/BufferGeometryUtils.js';

import { shortest } from '../motion/rotation.ts';
import { hueOf } from './palette.ts';

/** Numbers that are remembered of each place, and where they are. */
const MEMORY = 8;
const HEADING = 0;
const LEAN = 1;
const SQUASH = 2;
const PHASE = 3;
/** Half the whole height, and the radius, in metres. */
const HALF = 4;
const RADIUS = 5;
/** The most frames between two updates of an avatar. */
const FRAMES_MAX = 8;

export class Avatars {
  readonly root = new three.Group();
  private capacity = 0;
  private readonly geometries: readonly [three.BufferGeometry, three.BufferGeometry];
  private readonly materials =
    [new three.MeshStandardMaterial({ roughness: 0.55 }),
    new three.MeshStandardMaterial({ roughness: 0.3, vertexColors: true })] as const;
  private bodies!: three.InstancedMesh;
  private faces!: three.InstancedMesh;
  /** Where each object is among the instances. */
  private readonly places = new Map<number, number>();
  /** Free places below `end`. */
  private readonly free: number[] = [];
  private end = 0;
  private memory = new Float32Array(0);
  private readonly colour = new three.Color();
  private readonly isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  private seconds = 0;
  /** By frames that have passed: how much is left of a lean, and how much of a turn is made. */
  private readonly left = new Float64Array(FRAMES_MAX + 1);
  private readonly turning = new Float64Array(FRAMES_MAX + 1);

  constructor(isDetailed: boolean) {
    this.geometries = geometries(isDetailed);
    this.grow(64);
  }

  /** Gives the avatar a place, or the one it has; it is drawn once it has a pose. */
  enter(object: number, half: number, radius: number, heading: number): number {
    let place = this.places.get(object);
    if (place === undefined) {
      place = this.free.pop() ?? this.end++;
      if (place >= this.capacity) this.grow(2 * this.capacity);
      this.places.set(object, place);
      this.memory.set([heading, 0, 0, (object * 2.399) % 6.283], MEMORY * place);
      this.bodies.setColorAt(place, this.colour.set(hueOf(object)));
      this.bodies.instanceColor!.needsUpdate = true;
    }
    this.memory[MEMORY * place + HALF] = half;
    this.memory[MEMORY * place + RADIUS] = radius;
    return place;
  }

  /** Removes an avatar. */
  leave(object: number): void {
    const place = this.places.get(object);
    if (place === undefined) return;
    this.places.delete(object);
    this.free.push(place);
    this.bodies.instanceMatrix.array.fill(0, 16 * place, 16 * place + 15);
  }

  /** Removes all. */
  clear(): void {
    for (const object of [...this.places.keys()]) this.leave(object);
  }

  /** Shows that an avatar was touched: it gives way for a moment. */
  squash(object: number): void {
    const place = this.places.get(object);
    if (place !== undefined && !this.isCalm) this.memory[MEMORY * place + SQUASH] = 1;
  }

  /** Begins a frame: `pose` sets new poses until `finish`. */
  begin(seconds: number, elapsed: number): void {
    this.seconds = seconds;
    for (let frames = 0; frames <= FRAMES_MAX; frames++) {
      this.left[frames] = Math.exp(-frames * elapsed * 6);
      this.turning[frames] = 1 - Math.exp(-frames * elapsed * 14);
    }
  }

  /** Sets place, heading (radians about the upright axis) and ground speed, `frames` after the last pose. */
  pose(place: number, x: number, y: number, z: number, heading: number, speed: number, frames: number): void {
    const { memory, isCalm, seconds } = this;
    const own = MEMORY * place;
    const turned = shortest(heading - memory[own + HEADING]!);
    const facing = memory[own + HEADING]! + turned * this.turning[frames]!;
    const left = this.left[frames]!;
    const wanted = turned * 0.125 * (speed < 4 ? speed : 4);
    const bounded = wanted < -0.22 ? -0.22 : wanted > 0.22 ? 0.22 : wanted;
    const lean = bounded + (memory[own + LEAN]! - bounded) * left;
    const squash = memory[own + SQUASH]! * left;
    memory[own + HEADING] = facing;
    memory[own + LEAN] = lean;
    memory[own + SQUASH] = squash;
    const half = memory[own + HALF]!;
    const walk = speed < 3 ? speed / 3 : 1;
    const phase = memory[own + PHASE]!;
    const sway = isCalm || walk === 1 ? 0 : (1 - walk) * 0.015 * wave(seconds * 1.7 + phase);
    const bob = isCalm || walk === 0 ? 0 : walk * 0.03 * Math.abs(wave(seconds * 8 + phase));
    const tall = 1 - 0.08 * squash + sway;
    const pitch = isCalm ? 0 : 0.07 * walk;
    const sx = memory[own + RADIUS]! * (1 + 0.1 * squash);
    const sy = half * tall;
    const cos = Math.cos(facing);
    const sin = Math.sin(facing);
    const bodies = this.bodies.instanceMatrix.array;
    const at = 16 * place;
    // The columns of: turn, then lean sideways and forwards, then size. Small angles: a shear is as good as a turn.
    // What is always zero or one is written when room is made.
    bodies[at] = cos * sx;
    bodies[at + 2] = -sin * sx;
    bodies[at + 4] = (cos * lean + sin * pitch) * sy;
    bodies[at + 5] = sy;
    bodies[at + 6] = (-sin * lean + cos * pitch) * sy;
    bodies[at + 8] = sin * sx;
    bodies[at + 10] = cos * sx;
    bodies[at + 12] = x;
    bodies[at + 13] = y + bob - (1 - tall) * half;
    bodies[at + 14] = z;
  }

  /** A frame ends. */
  finish(): void {
    this.bodies.count = this.faces.count = this.end;
    this.bodies.instanceMatrix.needsUpdate = true;
  }

  private grow(capacity: number): void {
    const [before, colours] = [this.bodies?.instanceMatrix, this.bodies?.instanceColor];
    this.capacity = capacity;
    this.root.clear();
    this.bodies?.dispose();
    this.faces?.dispose();
    this.bodies = new three.InstancedMesh(this.geometries[0], this.materials[0], capacity);
    this.faces = new three.InstancedMesh(this.geometries[1], this.materials[1], capacity);
    for (const mesh of [this.bodies, this.faces]) {
      mesh.frustumCulled = false;
      mesh.castShadow = true;
      mesh.receiveShadow = true;
      this.root.add(mesh);
    }
    // Bodies and faces are at the same places.
    this.faces.instanceMatrix = this.bodies.instanceMatrix;
    const matrices = this.bodies.instanceMatrix;
    matrices.setUsage(three.DynamicDrawUsage);
    matrices.array.fill(0);
    for (let index = 0; index < capacity; index++) matrices.array[16 * index + 15] = 1;
    if (before) (matrices.array as Float32Array).set(before.array);
    if (colours) {
      this.bodies.setColorAt(0, this.colour);
      (this.bodies.instanceColor!.array as Float32Array).set(colours.array);
    }
    const memory = new Float32Array(MEMORY * capacity);
    memory.set(this.memory);
    this.memory = memory;
  }
}

/** Sines for what sways: a table is good enough, and four times as fast. */
const WAVE = Float32Array.from({ length: 1_024 }, (_, index) => Math.sin((index / 1_024) * 2 * Math.PI));

function wave(angle: number): number {
  return WAVE[(angle * (1_024 / (2 * Math.PI))) & 1_023]!;
}

/** A body and a face of half height one and radius one; the face looks along +z. */
function geometries(isDetailed: boolean): [three.BufferGeometry, three.BufferGeometry] {
  const around = isDetailed ? 28 : 10;
  // The outline, from foot to crown: never outside the capsule that collides.
  const outline = [
    [0, -1],
    [0.42, -0.995],
    [0.62, -0.96],
    [0.8, -0.8],
    [0.92, -0.5],
    [0.95, -0.15],
    [0.86, 0.18],
    [0.62, 0.36],
    [0.46, 0.42],
    [0.5, 0.47],
    [0.7, 0.56],
    [0.78, 0.68],
    [0.74, 0.82],
    [0.55, 0.93],
    [0.28, 0.985],
    [0, 1],
  ].map(([r, y]) => new three.Vector2(r, y));
  const curve = new three.SplineCurve(outline);
  const body = new three.LatheGeometry(isDetailed ? curve.getPoints(48)
    .map((p) => new three.Vector2(Math.max(p.x, 0), p.y)) : outline, around);
  const paint = (geometry: three.BufferGeometry, hex: number) => {
    const colour = new three.Color(hex);
    const count = geometry.getAttribute('position').count;
    const colours = new Float32Array(3 * count);
    for (let index = 0; index < count; index++) colour.toArray(colours, 3 * index);
    geometry.setAttribute('color', new three.BufferAttribute(colours, 3));
    return geometry;
  };
  // Half heights are about three radii: what should look round is flattened here.
  const ball = (radius: number, x: number, y: number, z: number) => new three.SphereGeometry(radius, 14, 10)
    .scale(1, 0.36, 0.6).translate(x, y, z);
  const eyes = [-0.27, 0.27]
    .flatMap((x) => [paint(ball(0.2, x, 0.7, 0.66), 0xf7f4ee), paint(ball(0.12, 0.96 * x, 0.697, 0.745), 0x1c2030)]);
  // Seen from behind, the end of a scarf shows the heading.
  const scarf = new three.TorusGeometry(0.52, 0.15, 8, around).rotateX(Math.PI / 2).scale(1, 0.36, 1)
    .translate(0, 0.4, 0);
  const end = new three.SphereGeometry(0.16, 10, 8).scale(1, 1.15, 0.55).translate(0.16, 0.22, -0.78);
  const face = mergeGeometries([...eyes, paint(scarf, 0xf1e7d8), paint(end, 0xf1e7d8)]);
  return [body, face];
}
