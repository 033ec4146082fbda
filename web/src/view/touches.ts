// Touches that begin, as they are shown: a ring, a sound, and a body that gives way.

import type { Client } from '../client/client.ts';
import { VELOCITY_PARTS } from '../wire/state.ts';
import { type Shape, halfHeight } from '../wire/shape.ts';
import type { Avatars } from './avatars.ts';
import { Rings } from './touch.ts';

/** Surfaces so near are in touch, in metres. */
const NEAR = 0.06;
/** Only those so near to the own avatar are looked at. */
const REACH = 12;

interface Point {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

export class Touches {
  private readonly rings = new Rings();
  readonly root = this.rings.root;
  /** Pairs that touch now; what is marked in the inspector. */
  readonly touching = new Set<string>();
  private wasBlocked = false;
  private last: Point | null = null;
  private blockedFor = 0;

  constructor(private readonly avatars: Avatars, private readonly onOwnTouch: (strength: number) => void) {}

  look(client: Client, own: Point, elapsed: number, isMarked: boolean): void {
    const bodies: { object: number; pos: Point; shape: Shape; isOwn: boolean }[] = [];
    bodies.push({ object: client.welcome!.own, pos: own, shape: client.welcome!.shape, isOwn: true });
    for (const other of client.others.near()) {
      const { entered, x, y, z } = other;
      if (Math.abs(x - own.x) > REACH || Math.abs(z - own.z) > REACH || entered.object === client.held) continue;
      const pos = { x, y, z };
      bodies.push({ object: entered.object, pos, shape: entered.shape, isOwn: false });
      if (bodies.length > 48) break;
    }
    const before = new Set(this.touching);
    this.touching.clear();
    for (let first = 0; first < bodies.length; first++) {
      for (let second = first + 1; second < bodies.length; second++) {
        const [a, b] = [bodies[first]!, bodies[second]!];
        const touch = touches(a, b);
        if (touch === null) continue;
        const key = `${a.object} ${b.object}`;
        this.touching.add(key);
        if (before.has(key)) continue;
        this.rings.add(touch.at, touch.normal, isMarked);
        this.avatars.squash(a.object);
        this.avatars.squash(b.object);
        if (a.isOwn) this.onOwnTouch(0.7);
      }
    }
    this.lookForWall(client, own, elapsed, isMarked);
    this.rings.animate(elapsed);
  }

  /** A wall: one wants to go on and does not. */
  private lookForWall(client: Client, own: Point, elapsed: number, isMarked: boolean): void {
    const [vx, , vz] = client.intent.velocity;
    const wanted = Math.hypot(vx, vz) / VELOCITY_PARTS;
    const gone = this.last === null || elapsed <= 0 ? wanted
      : Math.hypot(own.x - this.last.x, own.z - this.last.z) / elapsed;
    this.last = { ...own };
    this.blockedFor = wanted > 1 && gone < 0.45 * wanted ? this.blockedFor + elapsed : 0;
    const isBlocked = this.blockedFor > 0.08;
    if (isBlocked && !this.wasBlocked) {
      const normal = { x: -vx / (wanted * VELOCITY_PARTS), y: 0, z: -vz / (wanted * VELOCITY_PARTS) };
      const { shape } = client.welcome!;
      const radius = shape.form === 'capsule' ? shape.radius : halfHeight(shape);
      this.rings.add({ x: own.x - normal.x * radius, y: own.y + 0.2, z: own.z - normal.z * radius }, normal, isMarked);
      this.avatars.squash(client.welcome!.own);
      this.onOwnTouch(0.4);
    }
    this.wasBlocked = isBlocked;
  }
}

function touches(a: { pos: Point; shape: Shape }, b: { pos: Point; shape: Shape }): { at: Point;
  normal: Point } | null {
  const [dx, dy, dz] = [b.pos.x - a.pos.x, b.pos.y - a.pos.y, b.pos.z - a.pos.z];
  if (Math.abs(dy) > halfHeight(a.shape) + halfHeight(b.shape) + NEAR) return null;
  const far = Math.hypot(dx, dz);
  const reach = (shape: Shape): number => {
    if (shape.form !== 'box') return shape.radius;
    const [x, , z] = shape.half;
    return far === 0 ? x : Math.min(x / Math.max(Math.abs(dx) / far, 1e-6), z / Math.max(Math.abs(dz) / far, 1e-6));
  };
  const [ra, rb] = [reach(a.shape), reach(b.shape)];
  if (far > ra + rb + NEAR || far === 0) return null;
  const normal = { x: dx / far, y: 0, z: dz / far };
  const low = Math.max(a.pos.y - halfHeight(a.shape), b.pos.y - halfHeight(b.shape));
  const high = Math.min(a.pos.y + halfHeight(a.shape), b.pos.y + halfHeight(b.shape));
  return { at: { x: a.pos.x + normal.x * ra, y: 0.5 * (low + high), z: a.pos.z + normal.z * ra }, normal };
}
