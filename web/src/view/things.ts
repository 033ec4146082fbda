// Crates, balls and what moves by itself: one mesh each, made from a few shared shapes.

import * as three from 'three';
import { RoundedBoxGeometry } from 'three/examples/jsm/geometries/RoundedBoxGeometry.js';

import type { Quat } from '../wire/pose.ts';
import type { Shape } from '../wire/shape.ts';
import type { EnteredKind } from '../wire/to_client.ts';
import type { Models } from './models.ts';
import { AVATARS, DUSK } from './palette.ts';

export interface Thing {
  readonly object: number;
  readonly kind: EnteredKind;
  readonly shape: Shape;
  readonly pos: { readonly x: number; readonly y: number; readonly z: number };
  readonly rot: Quat;
  /** What its own clock shows, in ticks, if it changes its form. */
  readonly clock: number | null;
}

const wood = new three.MeshStandardMaterial({ roughness: 0.8, map: planks() });
const brass = new three.MeshStandardMaterial({ color: 0xc9a15a, roughness: 0.35, metalness: 0.6 });
const ballMaterials = AVATARS.map((colour) => new three.MeshStandardMaterial({ roughness: 0.5, map: stripes(colour) }));
/** Of many corners: some are sheets, which are seen from both sides. */
const cloth = AVATARS.map((color) =>
  new three.MeshStandardMaterial({ color, roughness: 0.65, side: three.DoubleSide }));
const crateGeometry = new RoundedBoxGeometry(2, 2, 2, 2, 0.09);
const ballGeometry = new three.SphereGeometry(1, 28, 20);

interface Entry {
  readonly mesh: three.Mesh;
  readonly at: three.Vector3;
  /** Puts it into the form of a moment. */
  readonly form: ((seconds: number) => void) | null;
  /** Whether its geometry was made for it alone, and goes with it. */
  readonly isGeometryOwn: boolean;
  frame: number;
}

export class Things {
  readonly root = new three.Group();
  private readonly meshes = new Map<number, Entry>();
  private frame = 0;
  /** How many were made so far, for tests and for the curious. */
  made = 0;

  constructor(private readonly models: Models) {}

  /** What these look like is known now: they are made anew, and nothing else. */
  renew(objects: Iterable<number>): void {
    for (const object of objects) {
      const entry = this.meshes.get(object);
      if (entry !== undefined) this.remove(object, entry);
    }
  }

  draw(things: Iterable<Thing>): void {
    this.frame += 1;
    for (const thing of things) {
      let entry = this.meshes.get(thing.object);
      if (entry === undefined) {
        const forming = this.models.forming(thing.object);
        const mesh = make(thing, forming?.geometry ?? this.models.geometry(thing.object));
        const isGeometryOwn = thing.shape.form === 'capsule' || mesh.geometry === forming?.geometry;
        entry = { mesh, at: new three.Vector3(thing.pos.x, thing.pos.y, thing.pos.z), form: forming?.form ?? null,
          isGeometryOwn, frame: 0 };
        this.meshes.set(thing.object, entry);
        this.root.add(mesh);
        this.made += 1;
      }
      entry.frame = this.frame;
      const { mesh, at } = entry;
      mesh.position.set(thing.pos.x, thing.pos.y, thing.pos.z);
      if (thing.shape.form === 'sphere' && thing.kind === 'Movable') roll(mesh, at, thing.shape.radius);
      else mesh.quaternion.set(...thing.rot);
      at.copy(mesh.position);
      if (thing.clock !== null) entry.form?.(thing.clock / this.models.tickRate);
    }
    for (const [object, entry] of this.meshes) if (entry.frame !== this.frame) this.remove(object, entry);
  }

  private remove(object: number, { mesh, isGeometryOwn }: Entry): void {
    this.root.remove(mesh);
    if (isGeometryOwn) mesh.geometry.dispose();
    if (mesh.userData['isLit'] === true) (mesh.material as three.Material).dispose();
    this.meshes.delete(object);
  }

  /** Marks what can be taken, or is held. */
  highlight(object: number | null): void {
    for (const [other, { mesh }] of this.meshes) {
      const material = mesh.material as three.MeshStandardMaterial;
      const isLit = mesh.userData['isLit'] === true;
      if ((other === object) === isLit) continue;
      if (other === object) {
        mesh.userData['plain'] = material;
        const lit = material.clone();
        lit.emissive = new three.Color(0xffb661);
        lit.emissiveIntensity = 0.35;
        mesh.material = lit;
      } else {
        mesh.material = mesh.userData['plain'] as three.Material;
        material.dispose();
      }
      mesh.userData['isLit'] = other === object;
    }
  }
}

/** A moving ball is shown rolling, whatever its turn in the world: the difference cannot be seen. */
function roll(mesh: three.Mesh, before: three.Vector3, radius: number): void {
  const way = mesh.position.clone().sub(before).setY(0);
  const far = way.length();
  if (far < 1e-5 || far > 2) return;
  const axis = new three.Vector3(way.z, 0, -way.x).divideScalar(far);
  mesh.quaternion.premultiply(new three.Quaternion().setFromAxisAngle(axis, far / radius));
}

function make({ shape, kind, object }: Thing, model: three.BufferGeometry | null): three.Mesh {
  const isMover = kind === 'Mover';
  let mesh: three.Mesh;
  switch (shape.form) {
    case 'model':
      // Until its mesh is known it is a ball with the same material, so that no other shader is needed later.
      mesh = new three.Mesh(model ?? ballGeometry, cloth[object % cloth.length]!);
      if (model === null) mesh.scale.setScalar(shape.radius);
      else mesh.frustumCulled = false;
      break;
    case 'box':
      mesh = new three.Mesh(crateGeometry, isMover ? brass : wood);
      mesh.scale.set(...shape.half);
      break;
    case 'capsule':
      mesh = new three.Mesh(new three.CapsuleGeometry(shape.radius, 2 * shape.halfHeight, 8, 20), brass);
      break;
    default:
      mesh = new three.Mesh(ballGeometry, isMover ? brass : ballMaterials[object % ballMaterials.length]!);
      mesh.scale.setScalar(shape.radius);
  }
  mesh.castShadow = true;
  mesh.receiveShadow = true;
  return mesh;
}

function canvas(size: number, draw: (context: CanvasRenderingContext2D) => void): three.Texture {
  const element = document.createElement('canvas');
  element.width = size;
  element.height = size;
  const context = element.getContext('2d');
  if (context !== null) draw(context);
  const texture = new three.CanvasTexture(element);
  texture.colorSpace = three.SRGBColorSpace;
  texture.anisotropy = 4;
  return texture;
}

function planks(): three.Texture {
  return canvas(128, (context) => {
    const hex = (colour: number) => `#${colour.toString(16).padStart(6, '0')}`;
    context.fillStyle = hex(DUSK.wood);
    context.fillRect(0, 0, 128, 128);
    for (let plank = 0; plank < 4; plank++) {
      context.fillStyle = `rgba(60, 30, 10, ${0.05 + 0.06 * (plank % 2)})`;
      context.fillRect(0, plank * 32, 128, 32);
      context.fillStyle = 'rgba(40, 20, 8, 0.5)';
      context.fillRect(0, plank * 32, 128, 2);
    }
    context.strokeStyle = 'rgba(60, 32, 12, 0.9)';
    context.lineWidth = 12;
    context.strokeRect(6, 6, 116, 116);
    context.beginPath();
    context.moveTo(8, 8);
    context.lineTo(120, 120);
    context.lineWidth = 9;
    context.stroke();
  });
}

function stripes(colour: number): three.Texture {
  return canvas(128, (context) => {
    context.fillStyle = '#f4efe6';
    context.fillRect(0, 0, 128, 128);
    context.fillStyle = `#${colour.toString(16).padStart(6, '0')}`;
    for (let stripe = 0; stripe < 4; stripe++) context.fillRect(stripe * 32, 0, 16, 128);
    context.fillRect(0, 0, 128, 14);
    context.fillRect(0, 114, 128, 14);
  });
}
