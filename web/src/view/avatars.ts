// People: rounded bodies with a face, all drawn at once. They sway a little when they stand, lean into their turns and
// give way when they touch.

import * as three from 'three';
import { mergeGeometries } from 'three/examples/jsm/utils/BufferGeometryUtils.js';

import { type Eye, restOf } from '../client/others.ts';
import { hueOf } from './palette.ts';

/** What is to be drawn of one avatar. */
export interface Pose {
  /** What is remembered of it; found by its object where it is missing. */
  memory?: Memory;
  readonly object: number;
  x: number;
  y: number;
  z: number;
  /** Radians about the upright axis. */
  heading: number;
  /** Metres per second over the ground. */
  speed: number;
  /** Half its whole height, and its radius, in metres. */
  half: number;
  radius: number;
}

/** What is remembered of one from frame to frame. */
export interface Memory {
  heading: number;
  lean: number;
  squash: number;
  phase: number;
  frame: number;
}

export class Avatars {
  readonly root = new three.Group();
  private capacity = 0;
  private bodies!: three.InstancedMesh;
  private faces!: three.InstancedMesh;
  private readonly memory = new Map<number, Memory>();
  private readonly colour = new three.Color();
  /** Whose colour each place has: they rarely change. */
  private coloured = new Float64Array(0);
  private readonly isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  private frame = 0;

  constructor(private readonly isDetailed: boolean) {
    this.grow(64);
  }

  /** Somebody was touched, and gives way for a moment. */
  squash(object: number): void {
    const memory = this.memory.get(object);
    if (memory !== undefined && !this.isCalm) memory.squash = 1;
  }

  /** Draws these, and nobody else. */
  draw(poses: readonly Pose[], count: number, seconds: number, elapsed: number, eye: Eye | null = null): void {
    if (count > this.capacity) this.grow(Math.max(count, 2 * this.capacity));
    this.frame += 1;
    const bodies = this.bodies.instanceMatrix.array as Float32Array;
    const { coloured, isCalm, frame } = this;
    let rest = 1;
    let settle = Math.exp(-elapsed * 6);
    let turning = 1 - Math.exp(-elapsed * 14);
    let isRecoloured = false;
    for (let index = 0; index < count; index++) {
      const pose = poses[index]!;
      const memory = pose.memory ?? this.remember(pose);
      memory.frame = frame;
      if (eye !== null) {
        const own = restOf(pose.x - eye.x, pose.z - eye.z);
        // Far away every second or fourth frame has to do, unless this place was somebody else's.
        if ((index + frame) % own !== 0 && coloured[index] === pose.object) continue;
        if (own !== rest) {
          rest = own;
          settle = Math.exp(-rest * elapsed * 6);
          turning = 1 - Math.exp(-rest * elapsed * 14);
        }
      }
      const turned = shortest(pose.heading - memory.heading);
      memory.heading += turned * turning;
      const wanted = Math.max(-0.22, Math.min(0.22, elapsed > 0 ? turned * 0.5 * Math.min(pose.speed, 4) * 0.25 : 0));
      memory.lean += (wanted - memory.lean) * (1 - settle);
      memory.squash *= settle;
      const walk = Math.min(pose.speed / 3, 1);
      const sway = isCalm || walk === 1 ? 0 : (1 - walk) * 0.015 * wave(seconds * 1.7 + memory.phase);
      const bob = isCalm || walk === 0 ? 0 : walk * 0.03 * Math.abs(wave(seconds * 8 + memory.phase));
      const wide = 1 + 0.1 * memory.squash;
      const tall = 1 - 0.08 * memory.squash + sway;
      const cos = Math.cos(memory.heading);
      const sin = Math.sin(memory.heading);
      const { lean } = memory;
      const pitch = isCalm ? 0 : 0.07 * walk;
      const sx = pose.radius * wide;
      const sy = pose.half * tall;
      const at = 16 * index;
      // The columns of: turn, then lean sideways and forwards, then size. Small angles: a shear is as good as a turn.
      // What is always zero or one is written when room is made.
      bodies[at] = cos * sx;
      bodies[at + 2] = -sin * sx;
      bodies[at + 4] = (cos * lean + sin * pitch) * sy;
      bodies[at + 5] = sy;
      bodies[at + 6] = (-sin * lean + cos * pitch) * sy;
      bodies[at + 8] = sin * sx;
      bodies[at + 10] = cos * sx;
      bodies[at + 12] = pose.x;
      bodies[at + 13] = pose.y + bob - (1 - tall) * pose.half;
      bodies[at + 14] = pose.z;
      if (coloured[index] !== pose.object) {
        coloured[index] = pose.object;
        this.bodies.setColorAt(index, this.colour.set(hueOf(pose.object)));
        isRecoloured = true;
      }
    }
    this.bodies.count = this.faces.count = count;
    this.bodies.instanceMatrix.needsUpdate = true;
    if (isRecoloured && this.bodies.instanceColor !== null) this.bodies.instanceColor.needsUpdate = true;
    if (this.memory.size > 2 * count + 64) {
      for (const [object, memory] of this.memory) if (memory.frame !== this.frame) this.memory.delete(object);
    }
  }

  private remember(pose: Pose): Memory {
    let memory = this.memory.get(pose.object);
    if (memory === undefined) {
      memory = { heading: pose.heading, lean: 0, squash: 0, phase: (pose.object * 2.399) % 6.283, frame: 0 };
      this.memory.set(pose.object, memory);
    }
    pose.memory = memory;
    return memory;
  }

  private grow(capacity: number): void {
    this.capacity = capacity;
    this.root.clear();
    this.bodies?.dispose();
    this.faces?.dispose();
    const [body, face] = geometries(this.isDetailed);
    this.bodies = new three.InstancedMesh(body, new three.MeshStandardMaterial({ roughness: 0.55 }), capacity);
    this.faces = new three.InstancedMesh(face, new three.MeshStandardMaterial({ roughness: 0.3, vertexColors: true }), capacity);
    for (const mesh of [this.bodies, this.faces]) {
      mesh.frustumCulled = false;
      mesh.castShadow = true;
      mesh.receiveShadow = true;
      this.root.add(mesh);
    }
    // Bodies and faces are at the same places.
    this.faces.instanceMatrix = this.bodies.instanceMatrix;
    this.bodies.instanceMatrix.setUsage(three.DynamicDrawUsage);
    this.bodies.instanceMatrix.array.fill(0);
    for (let index = 0; index < capacity; index++) this.bodies.instanceMatrix.array[16 * index + 15] = 1;
    this.coloured = new Float64Array(capacity);
  }
}

/** Sines for what sways: a table is good enough, and four times as fast. */
const WAVE = Float32Array.from({ length: 1_024 }, (_, index) => Math.sin((index / 1_024) * 2 * Math.PI));

function wave(angle: number): number {
  return WAVE[(angle * (1_024 / (2 * Math.PI))) & 1_023]!;
}

function shortest(angle: number): number {
  if (angle < Math.PI && angle > -Math.PI) return angle;
  return angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));
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
  const body = new three.LatheGeometry(isDetailed ? curve.getPoints(48).map((p) => new three.Vector2(Math.max(p.x, 0), p.y)) : outline, around);
  const paint = (geometry: three.BufferGeometry, hex: number) => {
    const colour = new three.Color(hex);
    const count = geometry.getAttribute('position').count;
    const colours = new Float32Array(3 * count);
    for (let index = 0; index < count; index++) colour.toArray(colours, 3 * index);
    geometry.setAttribute('color', new three.BufferAttribute(colours, 3));
    return geometry;
  };
  // Half heights are about three radii: what should look round is flattened here.
  const eye = (x: number) => new three.SphereGeometry(0.1, 10, 8).scale(1, 0.42, 0.6).translate(x, 0.71, 0.76);
  const visor = new three.SphereGeometry(0.6, 18, 12).scale(0.95, 0.2, 0.55).translate(0, 0.7, 0.46);
  const pack = new three.SphereGeometry(0.5, 14, 10).scale(0.95, 0.36, 0.5).translate(0, -0.05, -0.78);
  const face = mergeGeometries([paint(visor, 0x20242e), paint(eye(-0.24), 0xf5f7ff), paint(eye(0.24), 0xf5f7ff), paint(pack, 0x4a4e5c)]);
  return [body, face];
}
