// What the engine sees, drawn into the world: one colour per layer.

import * as three from 'three';

import type { Client } from '../client/client.ts';
import { metres } from '../client/walk.ts';
import type { Vec } from '../motion/vector.ts';
import { STEPS_PER_METRE } from '../wire/pose.ts';
import { halfHeight } from '../wire/shape.ts';
import { AVATARS, LAYERS, groupName } from '../view/palette.ts';
import type { Cells, Groups } from '../wire/inside.ts';
import type { Borders } from '../wire/operator.ts';
import { VERTICES_MAX, relations } from './relations.ts';
import { Tags } from './tags.ts';

export type LayerName = keyof typeof LAYERS;

const LINES_MAX = 4_096;
/** Seconds that a predicted track is drawn ahead. */
const TRACK_S = 1;

/** Lines of one colour, written anew each frame. */
class Lines {
  readonly object: three.LineSegments;
  private readonly places = new Float32Array(6 * LINES_MAX);
  private count = 0;

  constructor(colour: number, opacity: number) {
    const geometry = new three.BufferGeometry();
    geometry.setAttribute('position', new three.BufferAttribute(this.places, 3).setUsage(three.DynamicDrawUsage));
    const material = new three.LineBasicMaterial(
      { color: colour, transparent: true, opacity, depthTest: false, fog: false });
    this.object = new three.LineSegments(geometry, material);
    this.object.frustumCulled = false;
    this.object.renderOrder = 5;
  }

  clear(): void {
    this.count = 0;
  }

  add(ax: number, ay: number, az: number, bx: number, by: number, bz: number): void {
    if (this.count === LINES_MAX) return;
    this.places.set([ax, ay, az, bx, by, bz], 6 * this.count);
    this.count += 1;
  }

  circle(x: number, y: number, z: number, radius: number, parts: number): void {
    for (let part = 0; part < parts; part++) {
      const [a, b] = [(part / parts) * 2 * Math.PI, ((part + 1) / parts) * 2 * Math.PI];
      this.add(x + radius * Math.cos(a), y, z + radius * Math.sin(a), x + radius * Math.cos(b), y,
        z + radius * Math.sin(b));
    }
  }

  end(): void {
    this.object.geometry.setDrawRange(0, 2 * this.count);
    this.object.geometry.getAttribute('position').needsUpdate = true;
  }
}

interface Body {
  readonly object: number;
  readonly pos: Vec;
  readonly half: number;
  readonly isAvatar: boolean;
}

/** What the server told of its engine, if it did. */
export interface Engine {
  readonly groups: Groups | null;
  readonly cells: Cells | null;
  readonly borders: Borders | null;
}

export class Layers {
  readonly root = new three.Group();
  /** How much of each was drawn in the last frame. */
  readonly counts: Record<LayerName, number> =
    { aura: 0, pair: 0, relation: 0, group: 0, predicted: 0, confirmed: 0, contact: 0, cell: 0, border: 0 };
  readonly isOn: Record<LayerName, boolean> =
    { aura: true, pair: true, relation: false, group: false, predicted: true, confirmed: true, contact: true,
    cell: false, border: true };
  private readonly lines = new Map<LayerName, Lines>();
  private readonly hues = AVATARS.map((colour) => new Lines(colour, 0.9));
  private readonly tags = new Tags();
  private readonly dome: three.Mesh;

  constructor() {
    for (const [name, colour] of Object.entries(LAYERS) as [LayerName, number][]) {
      const lines = new Lines(colour, name === 'pair' ? 0.5 : 0.9);
      this.lines.set(name, lines);
      this.root.add(lines.object);
    }
    this.hues.forEach((lines) => this.root.add(lines.object));
    this.root.add(this.tags.root);
    const material = new three.MeshBasicMaterial(
      { color: LAYERS.aura, transparent: true, opacity: 0.1, side: three.DoubleSide, depthWrite: false, fog: false });
    this.dome = new three.Mesh(new three.SphereGeometry(1, 40, 20), material);
    this.root.add(this.dome);
    this.root.visible = false;
  }

  /** Draws all layers; what the server tells of the engine is there for operators alone. */
  draw(client: Client, engine: Engine): void {
    const welcome = client.welcome!;
    this.lines.forEach((lines) => lines.clear());
    this.hues.forEach((lines) => lines.clear());
    const own: Body = { object: welcome.own, pos: client.own!.shown, half: halfHeight(welcome.shape), isAvatar: true };
    const bodies: Body[] = [own];
    for (const { entered, x, y, z } of client.others.all.values()) {
      bodies.push({ object: entered.object, pos: { x, y, z }, half: halfHeight(entered.shape),
        isAvatar: entered.kind === 'Avatar' });
    }
    const avatars = bodies.filter((body) => body.isAvatar);
    this.drawAuras(own, avatars, welcome.aura);
    this.drawPairs(bodies, welcome.aura);
    this.tags.clear();
    this.drawRelations(avatars, welcome.aura);
    this.drawGroups(avatars, engine.groups);
    this.drawTracks(client);
    this.drawContacts(client, bodies);
    this.drawCells(own, welcome.aura, engine.cells);
    this.drawBorders(own, welcome.aura, engine.borders);
    this.tags.end();
    for (const [name, lines] of this.lines) {
      lines.object.visible = this.isOn[name];
      lines.end();
    }
    this.hues.forEach((lines) => {
      lines.object.visible = this.isOn.relation || this.isOn.group;
      lines.end();
    });
    this.dome.visible = this.isOn.aura;
  }

  private drawAuras(own: Body, avatars: readonly Body[], aura: number): void {
    const lines = this.lines.get('aura')!;
    this.dome.position.set(own.pos.x, own.pos.y, own.pos.z);
    this.dome.scale.setScalar(aura);
    lines.circle(own.pos.x, own.pos.y - own.half + 0.03, own.pos.z, aura, 96);
    const others = avatars.slice(1, 1 + VERTICES_MAX);
    for (const { pos, half } of others) lines.circle(pos.x, pos.y - half + 0.04, pos.z, 0.8, 20);
    this.counts.aura = 1 + others.length;
  }

  /** The users that are heard, and those that hear the own user: a line from the own avatar to each, as far as the aura
   * reaches. */
  private drawPairs(bodies: readonly Body[], aura: number): void {
    const lines = this.lines.get('pair')!;
    const own = bodies[0]!;
    let count = 0;
    for (const { pos } of bodies.slice(1)) {
      if (distance(pos, own.pos) > aura * 1.1) continue;
      lines.add(own.pos.x, own.pos.y, own.pos.z, pos.x, pos.y, pos.z);
      count += 1;
    }
    this.counts.pair = count;
  }

  private drawRelations(avatars: readonly Body[], aura: number): void {
    this.counts.relation = 0;
    if (!this.isOn.relation) return;
    const found = relations(avatars.length, (a, b) => distance(avatars[a]!.pos, avatars[b]!.pos) <= aura);
    this.counts.relation = found.length;
    found.forEach((members, index) =>
      this.drawSet(members.map((member) => avatars[member]!), index, String(index + 1)));
  }

  /** The server's groups, of which two members or more are heard here. */
  private drawGroups(avatars: readonly Body[], groups: Groups | null): void {
    this.counts.group = groups?.all ?? 0;
    if (!this.isOn.group || groups === null) return;
    const byObject = new Map(avatars.map((body) => [body.object, body]));
    for (const { number, members } of groups.groups) {
      const here = members.flatMap((member) => byObject.get(member) ?? []);
      if (here.length > 1) this.drawSet(here, number % 2 ** 32, groupName(number));
    }
  }

  /** A star around the middle of a set, by hue, with its number; lifted, so that sets that share members can be told
   * apart. */
  private drawSet(members: readonly Body[], index: number, name: string): void {
    const hue = index % this.hues.length;
    const lift = 0.25 + 0.12 * (index % 6);
    const middle = { x: 0, y: 1 + lift, z: 0 };
    for (const { pos } of members) {
      middle.x += pos.x / members.length;
      middle.y += pos.y / members.length;
      middle.z += pos.z / members.length;
    }
    for (const { pos, half } of members) this.hues[hue]!.add(middle.x, middle.y, middle.z, pos.x,
      pos.y + half * 0.5 + lift, pos.z);
    this.tags.add(name, AVATARS[hue]!, middle.x, middle.y + 0.2, middle.z);
  }

  private drawTracks(client: Client): void {
    const predicted = this.lines.get('predicted')!;
    const confirmed = this.lines.get('confirmed')!;
    this.counts.predicted = 0;
    this.counts.confirmed = 0;
    for (const other of client.others.all.values()) {
      const place = metres(other.confirmed.place);
      const size = 0.18;
      for (const [x, y, z] of [[size, 0, 0], [0, size, 0], [0, 0, size]] as const) {
        confirmed.add(place.x - x, place.y - y, place.z - z, place.x + x, place.y + y, place.z + z);
      }
      this.counts.confirmed += 1;
      const state = other.replica.state;
      if (state === null || (state.vel.x === 0 && state.vel.z === 0) || !other.replica.trajectory) continue;
      other.replica.trajectory.plan(TRACK_S, other.replica.settings.restitution, client.others.scene);
      let from = state.pos;
      for (let step = 1; step <= 8; step++) {
        const { pos } = other.replica.trajectory.at((step / 8) * TRACK_S);
        predicted.add(from.x, from.y, from.z, pos.x, pos.y, pos.z);
        from = pos;
      }
      this.counts.predicted += 1;
    }
    const own = client.own!;
    const [at, ahead] = [own.confirmed.pos, own.shown];
    confirmed.circle(at.x, at.y, at.z, 0.34, 24);
    predicted.circle(ahead.x, ahead.y, ahead.z, 0.38, 24);
    predicted.add(at.x, at.y, at.z, ahead.x, ahead.y, ahead.z);
    this.counts.confirmed += 1;
    this.counts.predicted += 1;
  }

  private drawContacts(client: Client, bodies: readonly Body[]): void {
    const lines = this.lines.get('contact')!;
    const radius = (object: number) => {
      const shape = object === client.welcome!.own ? client.welcome!.shape
        : client.others.byObject(object)?.entered.shape;
      return shape === undefined ? 0 : shape.form === 'box' ? Math.max(shape.half[0], shape.half[2]) : shape.radius;
    };
    const near = bodies.slice(0, VERTICES_MAX).map((body) => ({ ...body, radius: radius(body.object) }));
    let count = 0;
    near.forEach((a, first) => {
      for (const b of near.slice(first + 1)) {
        const far = Math.hypot(a.pos.x - b.pos.x, a.pos.z - b.pos.z);
        if (far > a.radius + b.radius + 0.06 || Math.abs(a.pos.y - b.pos.y) > a.half + b.half) continue;
        const share = far === 0 ? 0 : a.radius / far;
        lines.circle(a.pos.x + (b.pos.x - a.pos.x) * share, a.pos.y, a.pos.z + (b.pos.z - a.pos.z) * share, 0.2, 16);
        count += 1;
      }
    });
    this.counts.contact = count;
  }

  /** Where another node of a cluster decides: fences along the regions' edges, as far as one hears. */
  private drawBorders(own: Body, aura: number, borders: Borders | null): void {
    const regions = borders?.regions ?? [];
    this.counts.border = regions.length;
    if (!this.isOn.border || regions.length < 2) return;
    const lines = this.lines.get('border')!;
    const y = own.pos.y - own.half + 0.06;
    const near = (at: number, centre: number) => Math.min(Math.max(at, centre - 2 * aura), centre + 2 * aura);
    for (const { low, high } of regions) {
      const [west, north, east, south] = [low[0], low[1], high[0], high[1]]
        .map((steps) => steps / STEPS_PER_METRE) as [number, number, number, number];
      const [fromX, toX, fromZ, toZ] =
        [near(west, own.pos.x), near(east, own.pos.x), near(north, own.pos.z), near(south, own.pos.z)];
      for (const height of [0, 1, 2]) {
        for (const x of [west, east]) if (Math.abs(x - own.pos.x) <= 2 * aura) lines.add(x, y + height, fromZ, x,
          y + height, toZ);
        for (const z of [north, south]) if (Math.abs(z - own.pos.z) <= 2 * aura) lines.add(fromX, y + height, z, toX,
          y + height, z);
      }
    }
  }

  /** The occupied cells of the server's broad phase near by. */
  private drawCells(own: Body, aura: number, cells: Cells | null): void {
    this.counts.cell = cells?.all ?? 0;
    if (!this.isOn.cell || cells === null) return;
    const lines = this.lines.get('cell')!;
    const edge = cells.edge / STEPS_PER_METRE;
    const y = own.pos.y - own.half + 0.05;
    for (const [cell, inside] of cells.occupied) {
      const x = cells.low[0] / STEPS_PER_METRE + (cell % cells.counts[0]) * edge;
      const z = cells.low[1] / STEPS_PER_METRE + Math.floor(cell / cells.counts[0]) * edge;
      if (Math.abs(x - own.pos.x) > aura || Math.abs(z - own.pos.z) > aura) continue;
      // A frame inside the frame for each who is in it, up to three.
      for (let one = 0; one < Math.min(inside, 3); one++) {
        const [from, to] = [0.05 * edge * one, edge - 0.05 * edge * one];
        lines.add(x + from, y, z + from, x + to, y, z + from);
        lines.add(x + to, y, z + from, x + to, y, z + to);
        lines.add(x + to, y, z + to, x + from, y, z + to);
        lines.add(x + from, y, z + to, x + from, y, z + from);
      }
    }
  }
}

const distance = (a: Vec, b: Vec): number => Math.hypot(a.x - b.x, a.y - b.y, a.z - b.z);
