// A crowd of replicas and what is shown of them, in one array of numbers: the fast twin of a `Replica` with a
// `Display`, which say the same, to the bit, for one. A page shows thousands sixty times a second; an object for each
// place and each velocity would keep the collector busier than the crowd.
//
// Two more things make it fast. A walker's turn is an angle about the upright axis, so that no quaternions are needed.
// And each keeps a box of air around itself in which nothing stands: while its path stays in there, nothing has to
// look whether it meets a wall.

import { type Quat, type Turn, angleOf, quat } from '../wire/pose.ts';
import { type ConvergenceSettings, pushedOut } from './convergence.ts';
import { Trajectory, SPAN_S } from './trajectory.ts';
import { type Predicted, Replica, type ReplicaSettings } from './replica.ts';
import { between, shortest } from './rotation.ts';
import type { Scene } from './scene.ts';

/**
 * Numbers for each row, and where they are. Eight of them are a line of the processor's cache: what is drawn is in the
 * first, and a row that is not blended does without the last.
 */
export const ROW = 40;
export const SHOWN = 0;
export const SHOWN_VEL = 3;
export const SHOWN_ANGLE = 6;
/** When the blend began. */
const BLEND = 7;
const STAMP = 8;
const POS = 9;
const VEL = 12;
const PLANNED = 15;
const ACC = 16;
const ANGLE = 19;
const TURN = 20;
const TICK = 21;
const RADIUS = 22;
/** Nothing stands in here: from x, y, z to x, y, z. */
const AIR = 24;
/** From how far the blend comes. */
const OFFSET = 32;
const OFFSET_VEL = 35;
const BLEND_ANGLE = 38;

/** So much air is looked for around a path, in metres: enough for a few ticks. */
const SLACK = 0.75;
/** How far a path bends out of its ends, at most, for one of acceleration. */
const BULGE = 0.125 * SPAN_S * SPAN_S;
/** How long after an update a far row may be shown in a wall, in microseconds. */
const UNSEEN_US = 150_000;
/** The share of an earlier acceleration that is believed after another tick. */
const ACCELERATION_KEPT = 0.8;
/** More than this is no turn but an end of motion, in metres per second squared. */
const ACCELERATION_MAX = 12;

export type CrowdSettings = Omit<ReplicaSettings, 'radius'> & ConvergenceSettings & { readonly tickUs: number };

export class Crowd {
  data = new Float64Array(64 * ROW);
  /** Paths of those who meet something. */
  private readonly trajectories: (Trajectory | null)[] = [];
  /** Turns of those who are turned in any way: when the blend began, and as shown. */
  private readonly turned: ({ from: Quat; shown: Quat } | null)[] = [];
  /** What was worked out last: place and velocity. */
  private readonly found = new Float64Array(6);
  private stands: Scene;

  constructor(private readonly settings: CrowdSettings, scene: Scene) {
    this.stands = scene;
  }

  get scene(): Scene {
    return this.stands;
  }

  /** Paths that are planned stay as they are until the next update. */
  set scene(scene: Scene) {
    this.stands = scene;
    for (let at = 0; at < this.data.length; at += ROW) this.data[at + AIR] = Infinity;
  }

  /** A row begins anew. `isUpright` says that only its turn about the upright axis matters. */
  enter(row: number, radius: number, isUpright: boolean): void {
    if ((row + 1) * ROW > this.data.length) {
      const more = new Float64Array(Math.max((row + 1) * ROW, 2 * this.data.length));
      more.set(this.data);
      this.data = more;
    }
    const at = row * ROW;
    this.data.fill(0, at, at + ROW);
    this.data[at + RADIUS] = radius;
    this.data[at + BLEND] = -Infinity;
    this.data[at + AIR] = Infinity;
    this.trajectories[row] = null;
    this.turned[row] = isUpright ? null : { from: quat(0), shown: quat(0) };
  }

  /** The last tick that was heard of a row; 0 before the first. */
  tick(row: number): number {
    return this.data[row * ROW + TICK]!;
  }

  turn(row: number): Turn {
    return this.data[row * ROW + TURN]!;
  }

  /** The rotation that is shown. */
  rotation(row: number): Quat {
    const turned = this.turned[row];
    if (turned) return turned.shown;
    const half = this.data[row * ROW + SHOWN_ANGLE]! / 2;
    return [0, Math.sin(half), 0, Math.cos(half)];
  }

  /**
   * An update: where it was and how it moved, at a moment of its owner's clock. It must be newer than the last. Of one
   * that is far from the eye neither a correction nor its turning within a tick can be seen: neither is computed, and
   * it is shown when its frame comes.
   */
  hear(row: number, tick: number, stamp: number, x: number, y: number, z: number, vx: number, vy: number, vz: number,
    turn: Turn, isElsewhere: boolean, now: number, isFar = false): void {
    const { data, found, settings } = this;
    const at = row * ROW;
    const isFirst = data[at + TICK] === 0;
    if (!isFirst && !isFar) this.show(row, now);
    if (isFar) data[at + ACC] = data[at + ACC + 1] = data[at + ACC + 2] = 0;
    else this.accelerate(at, tick, vx, vy, vz, isElsewhere);
    data[at + STAMP] = stamp;
    data[at + POS] = x;
    data[at + POS + 1] = y;
    data[at + POS + 2] = z;
    data[at + VEL] = vx;
    data[at + VEL + 1] = vy;
    data[at + VEL + 2] = vz;
    data[at + TICK] = tick;
    if (turn !== data[at + TURN] || isFirst) {
      data[at + TURN] = turn;
      data[at + ANGLE] = angleOf(turn);
    }
    this.trajectories[row] = null;
    data[at + PLANNED] = 0;
    if (isFirst) return this.show(row, now);
    if (isFar) {
      data[at + BLEND] = -Infinity;
      return;
    }
    this.predict(row, at, now);
    const [dx, dy, dz] = [data[at + SHOWN]! - found[0]!, data[at + SHOWN + 1]! - found[1]!,
      data[at + SHOWN + 2]! - found[2]!];
    if (isElsewhere || Math.sqrt(dx * dx + dy * dy + dz * dz) > settings.snapDistance) {
      data[at + BLEND] = -Infinity;
      return;
    }
    data[at + BLEND] = now;
    data[at + OFFSET] = dx;
    data[at + OFFSET + 1] = dy;
    data[at + OFFSET + 2] = dz;
    data[at + OFFSET_VEL] = data[at + SHOWN_VEL]! - found[3]!;
    data[at + OFFSET_VEL + 1] = data[at + SHOWN_VEL + 1]! - found[4]!;
    data[at + OFFSET_VEL + 2] = data[at + SHOWN_VEL + 2]! - found[5]!;
    data[at + BLEND_ANGLE] = data[at + SHOWN_ANGLE]!;
    const turned = this.turned[row];
    if (turned) turned.from = turned.shown;
  }

  /** Works out where a row is shown. */
  show(row: number, now: number): void {
    this.predict(row, row * ROW, now);
    this.blend(row, now);
  }

  /**
   * The same for a row far from the eye, which is not blended: straight on from its last state. A wall is looked
   * for only when that was a while ago; before, its depth in a wall cannot be seen.
   */
  showFar(row: number, now: number): void {
    const { data } = this;
    const at = row * ROW;
    const elapsed = now - data[at + STAMP]!;
    if (elapsed > UNSEEN_US || this.turned[row] !== null) return this.show(row, now);
    const t = (elapsed < 0 ? 0 : elapsed) * 1e-6;
    for (let axis = 0; axis < 3; axis++) {
      const vel = data[at + VEL + axis]!;
      data[at + SHOWN + axis] = data[at + POS + axis]! + vel * t;
      data[at + SHOWN_VEL + axis] = vel;
    }
    data[at + SHOWN_ANGLE] = data[at + ANGLE]!;
    data[at + BLEND] = -Infinity;
  }

  /** The same, where the prediction comes from elsewhere. */
  showPredicted(row: number, now: number, predicted: Predicted): void {
    this.find(predicted);
    this.blend(row, now);
  }

  private find({ pos, vel }: Pick<Predicted, 'pos' | 'vel'>): void {
    const { found } = this;
    found[0] = pos.x;
    found[1] = pos.y;
    found[2] = pos.z;
    found[3] = vel.x;
    found[4] = vel.y;
    found[5] = vel.z;
  }

  /** A row as a replica of its own. */
  replica(row: number): Replica {
    const { data } = this;
    const at = row * ROW;
    const { radius, ...start } = this.start(at);
    const replica = new Replica({ ...this.settings, radius });
    replica.handle(data[at + TICK]! >>> 0, { stamp: data[at + STAMP]!, ...start, rot: quat(data[at + TURN]!) });
    return replica;
  }

  /** How the velocity changes, smoothed: a walker that turns goes on turning for a while. */
  private accelerate(at: number, tick: number, vx: number, vy: number, vz: number, isElsewhere: boolean): void {
    const { data } = this;
    const ticks = tick - data[at + TICK]!;
    let [ax, ay, az] = [0, 0, 0];
    if (!isElsewhere && data[at + TICK] !== 0 && ticks > 0 && ticks <= 8) {
      const rate = 1e6 / (ticks * this.settings.tickUs);
      const sx = (vx - data[at + VEL]!) * rate;
      const sy = (vy - data[at + VEL + 1]!) * rate;
      const sz = (vz - data[at + VEL + 2]!) * rate;
      // A start, a stop or a bounce says nothing about what comes next.
      const isKink = Math.sqrt(sx * sx + sy * sy + sz * sz) > ACCELERATION_MAX || (vx === 0 && vy === 0 && vz === 0);
      if (!isKink) {
        const weight = 1 - (ticks === 1 ? ACCELERATION_KEPT : ACCELERATION_KEPT ** ticks);
        ax = data[at + ACC]! * (1 - weight) + sx * weight;
        ay = data[at + ACC + 1]! * (1 - weight) + sy * weight;
        az = data[at + ACC + 2]! * (1 - weight) + sz * weight;
      }
    }
    data[at + ACC] = ax;
    data[at + ACC + 1] = ay;
    data[at + ACC + 2] = az;
  }

  /** Place and velocity at a moment, into `found`. */
  private predict(row: number, at: number, now: number): void {
    const { data, found } = this;
    const most = this.settings.extrapolationUsMax;
    const elapsed = now - data[at + STAMP]!;
    const t = (elapsed < 0 ? 0 : elapsed > most ? most : elapsed) * 1e-6;
    if (t > data[at + PLANNED]!) this.plan(row, at, t);
    const trajectory = this.trajectories[row]!;
    if (trajectory !== null && t > 0) this.find(trajectory.at(t));
    else {
      const half = 0.5 * t * t;
      found[0] = data[at + POS]! + data[at + VEL]! * t + data[at + ACC]! * half;
      found[1] = data[at + POS + 1]! + data[at + VEL + 1]! * t + data[at + ACC + 1]! * half;
      found[2] = data[at + POS + 2]! + data[at + VEL + 2]! * t + data[at + ACC + 2]! * half;
      found[3] = data[at + VEL]! + data[at + ACC]! * t;
      found[4] = data[at + VEL + 1]! + data[at + ACC + 1]! * t;
      found[5] = data[at + VEL + 2]! + data[at + ACC + 2]! * t;
    }
    if (elapsed > most) found[3] = found[4] = found[5] = 0;
  }

  /** Plans up to `t` seconds after the stamp; most rows have no contact and no trajectory. */
  private plan(row: number, at: number, t: number): void {
    const { data } = this;
    while (this.trajectories[row] === null && data[at + PLANNED]! < t) {
      if (!this.isFree(at, data[at + PLANNED]!)) {
        const { pos, vel, acc, radius } = this.start(at);
        const trajectory = new Trajectory(data[at + STAMP]!, { pos, vel, acc }, radius);
        trajectory.plan(data[at + PLANNED]! + SPAN_S, this.settings.restitution, this.stands);
        if (trajectory.hasContacts) this.trajectories[row] = trajectory;
      }
      data[at + PLANNED]! += SPAN_S;
    }
    const trajectory = this.trajectories[row]!;
    if (trajectory === null) return;
    trajectory.plan(t, this.settings.restitution, this.stands);
    data[at + PLANNED] = trajectory.isStopped ? Infinity : trajectory.planned;
  }

  private start(at: number) {
    const { data } = this;
    const vec = (field: number) => ({ x: data[at + field]!, y: data[at + field + 1]!, z: data[at + field + 2]! });
    return { pos: vec(POS), vel: vec(VEL), acc: vec(ACC), radius: data[at + RADIUS]! };
  }

  /** Whether nothing is near the path of a span. Wider by a hair, so that rounding cannot hide a touch. */
  private isFree(at: number, from: number): boolean {
    const { data } = this;
    const margin = data[at + RADIUS]! + 1e-6;
    const to = from + SPAN_S;
    const halfFrom = 0.5 * from * from;
    const halfTo = 0.5 * to * to;
    let isAir = true;
    for (let axis = 0; axis < 3; axis++) {
      const pos = data[at + POS + axis]!;
      const vel = data[at + VEL + axis]!;
      const acc = data[at + ACC + axis]!;
      const start = pos + vel * from + acc * halfFrom;
      const end = pos + vel * to + acc * halfTo;
      const wide = Math.abs(acc) * BULGE + margin;
      const low = (start < end ? start : end) - wide;
      const high = (start < end ? end : start) + wide;
      box[axis] = low;
      box[3 + axis] = high;
      if (!(data[at + AIR + axis]! <= low && high <= data[at + AIR + 3 + axis]!)) isAir = false;
    }
    return isAir || this.findAir(at) || !this.stands.isNear(box[0]!, box[1]!, box[2]!, box[3]!, box[4]!, box[5]!);
  }

  /** Looks for air around the box of a path. */
  private findAir(at: number): boolean {
    for (let axis = 0; axis < 3; axis++) {
      air[axis] = box[axis]! - SLACK;
      air[3 + axis] = box[3 + axis]! + SLACK;
    }
    if (this.stands.isNear(air[0]!, air[1]!, air[2]!, air[3]!, air[4]!, air[5]!)) return false;
    for (let side = 0; side < 6; side++) this.data[at + AIR + side] = air[side]!;
    return true;
  }

  /** From what was found to what is shown. */
  private blend(row: number, now: number): void {
    const { data, found, settings } = this;
    const at = row * ROW;
    const since = now - data[at + BLEND]!;
    const turned = this.turned[row]!;
    if (since < settings.blendUs) {
      const whole = settings.blendUs * 1e-6;
      const u = ((since < 0 ? 0 : since) * 1e-6) / whole;
      const place = 2 * u * u * u - 3 * u * u + 1;
      const speed = whole * (u * u * u - 2 * u * u + u);
      const dPlace = (6 * u * u - 6 * u) / whole;
      const dSpeed = 3 * u * u - 4 * u + 1;
      for (let axis = 0; axis < 3; axis++) {
        const [offset, offsetVel] = [data[at + OFFSET + axis]!, data[at + OFFSET_VEL + axis]!];
        data[at + SHOWN + axis] = found[axis]! + offset * place + offsetVel * speed;
        data[at + SHOWN_VEL + axis] = found[3 + axis]! + offset * dPlace + offsetVel * dSpeed;
      }
      if (turned !== null) turned.shown = between(turned.from, quat(data[at + TURN]!), u);
      const from = data[at + BLEND_ANGLE]!;
      data[at + SHOWN_ANGLE] = from + shortest(data[at + ANGLE]! - from) * u;
    } else {
      for (let axis = 0; axis < 3; axis++) {
        data[at + SHOWN + axis] = found[axis]!;
        data[at + SHOWN_VEL + axis] = found[3 + axis]!;
      }
      if (turned !== null) turned.shown = quat(data[at + TURN]!);
      data[at + SHOWN_ANGLE] = data[at + ANGLE]!;
    }
    this.pushOut(at);
  }

  /** Out of what stands, unless there is air all around. */
  private pushOut(at: number): void {
    const { data } = this;
    const [x, y, z, radius] = [data[at + SHOWN]!, data[at + SHOWN + 1]!, data[at + SHOWN + 2]!, data[at + RADIUS]!];
    const isInAir =
      data[at + AIR]! <= x - radius && x + radius <= data[at + AIR + 3]! &&
      data[at + AIR + 1]! <= y - radius && y + radius <= data[at + AIR + 4]! &&
      data[at + AIR + 2]! <= z - radius && z + radius <= data[at + AIR + 5]!;
    if (isInAir || !this.stands.isNear(x - radius, y - radius, z - radius, x + radius, y + radius, z + radius)) return;
    const pushed = pushedOut({ x, y, z }, radius, this.stands);
    data[at + SHOWN] = pushed.x;
    data[at + SHOWN + 1] = pushed.y;
    data[at + SHOWN + 2] = pushed.z;
  }
}

const box = new Float64Array(6);
const air = new Float64Array(6);
