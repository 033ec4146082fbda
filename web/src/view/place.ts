// The fixed part of the world: the ground, and what stands on it. Everything is drawn where it collides and as large as
// it is; what is only there to be looked at stands outside the world's bounds.

import * as three from 'three';
import { RoundedBoxGeometry } from 'three/examples/jsm/geometries/RoundedBoxGeometry.js';

import { metres } from '../client/walk.ts';
import { quat } from '../wire/pose.ts';
import type { Solid, Welcome } from '../wire/to_client.ts';
import type { Models } from './models.ts';
import { DUSK } from './palette.ts';

const stone = new three.MeshStandardMaterial({ color: DUSK.stone, roughness: 0.9 });
const pale = new three.MeshStandardMaterial({ color: 0xdccdbc, roughness: 0.85 });
const dark = new three.MeshStandardMaterial({ color: 0x8b7b76, roughness: 0.95 });
const sculpted = new three.MeshStandardMaterial({ color: 0xd8cfc4, roughness: 0.6, side: three.DoubleSide });
const leaf = new three.MeshStandardMaterial({ color: DUSK.leaf, roughness: 1, flatShading: true });
const soil = new three.MeshStandardMaterial({ color: 0x4a3a33, roughness: 1 });
const lamp = new three.MeshStandardMaterial({ color: 0xffe2b0, emissive: 0xffb661, emissiveIntensity: 2.2 });
const water = new three.MeshStandardMaterial(
  { color: DUSK.water, roughness: 0.15, metalness: 0.1, transparent: true, opacity: 0.85 });

export class Place {
  readonly root = new three.Group();
  private readonly drops: { points: three.Points; tops: readonly three.Vector3[] }[] = [];
  /** By object, what stands for solids of many corners. */
  private readonly sculptures = new Map<number, three.Mesh>();

  constructor(
    private readonly bounds: Welcome['bounds'],
    private readonly solids: readonly Solid[],
    private readonly models: Models | null = null,
  ) {
    const low = metres(bounds[0]);
    const high = metres(bounds[1]);
    this.root.add(ground(low.y));
    this.root.add(...surroundings(low.x, high.x, low.z, high.z, low.y));
    for (const solid of solids) this.root.add(this.solid(solid, solids));
    this.root.traverse((object) => {
      if (!(object instanceof three.Mesh)) return;
      object.receiveShadow = true;
      object.castShadow = object.userData['isFlat'] !== true;
      object.updateMatrixWorld();
    });
  }

  /** Whether the place is made of these, so that a user that resumes or changes servers need not build it again. */
  isOf(bounds: Welcome['bounds'], solids: readonly Solid[]): boolean {
    return JSON.stringify([bounds, solids]) === JSON.stringify([this.bounds, this.solids]);
  }

  /** What these look like is known now: they are shaped anew, and nothing else is touched. */
  renew(objects: Iterable<number>): void {
    for (const object of objects) {
      const sculpture = this.sculptures.get(object);
      const geometry = this.models?.geometry(object);
      if (!sculpture || !geometry) continue;
      sculpture.geometry.dispose();
      sculpture.geometry = geometry;
    }
  }

  /** Gives back what the graphics memory holds of it. */
  dispose(): void {
    this.root.traverse((object) => {
      if (object instanceof three.Mesh || object instanceof three.Points) object.geometry.dispose();
    });
  }

  /** Lets the fountain play. */
  animate(seconds: number): void {
    for (const { points, tops } of this.drops) {
      const places = points.geometry.getAttribute('position') as three.BufferAttribute;
      for (let index = 0; index < places.count; index++) {
        const top = tops[index % tops.length]!;
        const t = (seconds * 0.9 + index * 0.618) % 1.1;
        const angle = index * 2.399;
        const reach = 0.55 + 0.25 * Math.sin(index * 7.1);
        places.setXYZ(index, top.x + Math.cos(angle) * reach * t, top.y + 2.1 * t - 4.2 * t * t,
          top.z + Math.sin(angle) * reach * t);
      }
      places.needsUpdate = true;
    }
  }

  private solid(solid: Solid, all: readonly Solid[]): three.Object3D {
    const group = new three.Group();
    const { x, y, z } = metres(solid.place);
    group.position.set(x, y, z);
    group.quaternion.set(...quat(solid.turn));
    const { shape } = solid;
    switch (shape.form) {
      case 'box':
        group.add(...box(shape.half, y, solid.object));
        break;
      case 'sphere':
        group.add(bush(shape.radius, solid.object));
        break;
      case 'capsule': {
        group.add(...pillar(shape.halfHeight, shape.radius));
        const below = all.find((other) => isBelow(other, solid));
        if (below?.shape.form === 'box') this.fountain(group, below, y);
        break;
      }
      case 'model': {
        const sculpture = new three.Mesh(this.models?.geometry(solid.object)
          ?? new three.IcosahedronGeometry(shape.radius, 1), sculpted);
        this.sculptures.set(solid.object, sculpture);
        group.add(sculpture);
        break;
      }
    }
    return group;
  }

  /** Water around a pillar that stands on a basin. */
  private fountain(group: three.Group, basin: Solid, height: number): void {
    if (basin.shape.form !== 'box') return;
    const [hx, hy, hz] = basin.shape.half;
    const top = metres(basin.place).y + hy - height;
    const surface = new three.Mesh(new three.BoxGeometry(1.72 * hx, 0.04, 1.72 * hz), water);
    surface.position.y = top + 0.03;
    surface.userData['isFlat'] = true;
    group.add(surface);
    const count = 220;
    const geometry = new three.BufferGeometry();
    geometry.setAttribute('position', new three.BufferAttribute(new Float32Array(3 * count), 3));
    const material = new three.PointsMaterial({ color: 0xd9f3ff, size: 0.05, transparent: true, opacity: 0.75 });
    const points = new three.Points(geometry, material);
    points.frustumCulled = false;
    group.add(points);
    this.drops.push({ points, tops: [new three.Vector3(0, 1.45, 0)] });
  }
}

function isBelow(lower: Solid, upper: Solid): boolean {
  if (lower === upper || lower.shape.form !== 'box' || upper.shape.form !== 'capsule') return false;
  const [a, b] = [metres(lower.place), metres(upper.place)];
  const gap = b.y - upper.shape.halfHeight - upper.shape.radius - (a.y + lower.shape.half[1]);
  return Math.abs(a.x - b.x) < 0.01 && Math.abs(a.z - b.z) < 0.01 && Math.abs(gap) < 0.1 && a.y > 0.4;
}

function box(half: readonly [number, number, number], y: number, object: number): three.Object3D[] {
  const [x, h, z] = half;
  const isLow = y + h < 0.35;
  const isWall = h > 0.7;
  const radius = Math.min(0.08, 0.45 * Math.min(x, h, z));
  const body = new three.Mesh(new RoundedBoxGeometry(2 * x, 2 * h, 2 * z, 3, radius),
    isLow ? pale : isWall ? stone : dark);
  const parts: three.Object3D[] = [body];
  if (isWall) {
    // A darker foot and a pale cap, within the solid but for a finger's breadth.
    const cap = new three.Mesh(new RoundedBoxGeometry(2 * x + 0.06, 0.14, 2 * z + 0.06, 2, 0.04), pale);
    cap.position.y = h - 0.07;
    const foot = new three.Mesh(new three.BoxGeometry(2 * x + 0.03, 0.22, 2 * z + 0.03), dark);
    foot.position.y = 0.11 - h;
    parts.push(cap, foot);
  } else if (!isLow && x > 0.9 && object % 2 === 0) {
    // A planter: soil, and greenery without collisions.
    const bed = new three.Mesh(new three.BoxGeometry(1.8 * x, 0.05, 1.7 * z), soil);
    bed.position.y = h - 0.01;
    parts.push(bed);
    const count = Math.max(3, Math.floor(3 * x));
    for (let index = 0; index < count; index++) {
      const tuft = new three.Mesh(new three.IcosahedronGeometry(0.16 + 0.05 * ((index * 7 + object) % 3), 1), leaf);
      tuft.position.set(((index + 0.5) / count - 0.5) * 1.7 * x, h + 0.1, 0.3 * z * Math.sin(index * 2.4 + object));
      parts.push(tuft);
    }
  } else if (!isLow) {
    const seat = new three.Mesh(new RoundedBoxGeometry(2 * x + 0.04, 0.08, 2 * z + 0.04, 2, 0.03),
      new three.MeshStandardMaterial({ color: DUSK.wood, roughness: 0.8 }));
    seat.position.y = h - 0.03;
    parts.push(seat);
  }
  return parts;
}

function pillar(halfHeight: number, radius: number): three.Object3D[] {
  const shaft = new three.Mesh(new three.CapsuleGeometry(radius, 2 * halfHeight, 8, 24), pale);
  const ring = (y: number, r: number, h: number) => {
    const mesh = new three.Mesh(new three.CylinderGeometry(r, r, h, 24), stone);
    mesh.position.y = y;
    return mesh;
  };
  const light = new three.Mesh(new three.SphereGeometry(0.34 * radius, 16, 12), lamp);
  light.position.y = halfHeight + radius * 1.05;
  return [shaft, ring(-halfHeight, radius * 1.06, 0.16), ring(halfHeight, radius * 1.06, 0.12), light];
}

function bush(radius: number, object: number): three.Object3D {
  const geometry = new three.IcosahedronGeometry(radius, 4);
  const places = geometry.getAttribute('position') as three.BufferAttribute;
  const at = new three.Vector3();
  for (let index = 0; index < places.count; index++) {
    at.fromBufferAttribute(places, index);
    // Never beyond the ball that collides.
    const dent = 0.5 + 0.5 * Math.sin(at.x * 9 / radius + object) * Math.sin(at.y * 8 / radius) * Math.cos(
      at.z * 9 / radius);
    at.multiplyScalar(1 - 0.06 * dent);
    places.setXYZ(index, at.x, at.y, at.z);
  }
  geometry.computeVertexNormals();
  const material = leaf.clone();
  material.color.offsetHSL(0.02 * Math.sin(object * 3.3), 0, 0.04 * Math.sin(object * 1.7));
  return new three.Mesh(geometry, material);
}

/** The ground, with a grid that fades with distance: so that speed can be felt. */
function ground(height: number): three.Mesh {
  const material = new three.MeshStandardMaterial({ color: DUSK.ground, roughness: 1 });
  material.onBeforeCompile = (shader) => {
    shader.vertexShader = shader.vertexShader
      .replace('#include <common>', '#include <common>\nvarying vec3 onGround;')
      .replace('#include <begin_vertex>',
        '#include <begin_vertex>\nonGround = (modelMatrix * vec4(position, 1.0)).xyz;');
    shader.fragmentShader = shader.fragmentShader
      .replace('#include <common>', '#include <common>\nvarying vec3 onGround;')
      .replace(
        '#include <color_fragment>',
        `#include <color_fragment>
        vec2 tile = floor(onGround.xz / 2.0);
        float shade = fract(sin(dot(tile, vec2(12.9898, 78.233))) * 43758.5453);
        diffuseColor.rgb *= 0.94 + 0.1 * shade;
        vec2 line = abs(fract(onGround.xz / 2.0 - 0.5) - 0.5) / fwidth(onGround.xz / 2.0);
        float away = length(onGround - cameraPosition);
        float seam = (1.0 - min(min(line.x, line.y) / 1.4, 1.0)) * exp(-away / 22.0);
        diffuseColor.rgb *= 1.0 - 0.3 * seam;
        float ring = abs(fract(length(onGround.xz) / 8.0) - 0.5) * 8.0;
        diffuseColor.rgb *= 1.0 - 0.07 * smoothstep(0.25, 0.1, abs(ring - 2.0)) * exp(-away / 60.0);`,
      );
  };
  const mesh = new three.Mesh(new three.PlaneGeometry(600, 600).rotateX(-Math.PI / 2), material);
  mesh.position.y = height;
  mesh.userData['isFlat'] = true;
  return mesh;
}

/** A colonnade around the plaza, and hills behind it. */
function surroundings(x0: number, x1: number, z0: number, z1: number, y: number): three.Object3D[] {
  const places: { x: number; z: number; turn: number }[] = [];
  const span = 5;
  const along = (from: number, to: number, place: (at: number) => { x: number; z: number }, turn: number) => {
    const count = Math.min(200, Math.max(1, Math.round((to - from) / span)));
    for (let index = 0; index < count; index++) places.push(
      { ...place(from + ((index + 0.5) * (to - from)) / count), turn });
  };
  along(x0, x1, (x) => ({ x, z: z0 - 1.2 }), 0);
  along(x0, x1, (x) => ({ x, z: z1 + 1.2 }), 0);
  along(z0, z1, (z) => ({ x: x0 - 1.2, z }), Math.PI / 2);
  along(z0, z1, (z) => ({ x: x1 + 1.2, z }), Math.PI / 2);
  const arch = new three.InstancedMesh(archGeometry(span), stone, places.length);
  const matrix = new three.Matrix4();
  places.forEach(({ x, z, turn }, index) => {
    matrix.makeRotationY(turn).setPosition(x, y, z);
    arch.setMatrixAt(index, matrix);
  });
  const hills = new three.Group();
  const far = Math.max(x1 - x0, z1 - z0);
  for (let index = 0; index < 26; index++) {
    const angle = (index / 26) * 2 * Math.PI + 0.3 * Math.sin(index * 5);
    const size = 16 + 10 * Math.abs(Math.sin(index * 2.7));
    const material = new three.MeshStandardMaterial({ color: 0x4a4d6d, roughness: 1 });
    const hill = new three.Mesh(new three.SphereGeometry(size, 20, 10), material);
    hill.scale.set(1.9, 0.42, 1.2);
    hill.position.set(Math.cos(angle) * (0.62 * far + 45), y - 2, Math.sin(angle) * (0.62 * far + 45));
    hill.userData['isFlat'] = true;
    hills.add(hill);
  }
  return [arch, hills];
}

function archGeometry(span: number): three.BufferGeometry {
  const half = span / 2;
  const wall = new three.Shape();
  wall.moveTo(-half, 0).lineTo(half, 0).lineTo(half, 4.2).lineTo(-half, 4.2).closePath();
  const door = new three.Path();
  const inner = half - 0.45;
  door.moveTo(-inner, 0).lineTo(-inner, 1.7).absarc(0, 1.7, inner, Math.PI, 0, true).lineTo(inner, 0).closePath();
  wall.holes.push(door);
  return new three.ExtrudeGeometry(wall,
    { depth: 0.8, bevelEnabled: true, bevelSize: 0.05, bevelThickness: 0.05, bevelSegments: 2, curveSegments: 20 })
    .translate(0, 0, -0.4);
}
