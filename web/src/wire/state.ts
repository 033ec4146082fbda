// The places of all heard objects, in one datagram that stands alone. `docs/protocol.md` has the layout.

import { BitReader, BitWriter } from './bits.ts';
import { Reader, Writer } from './codec.ts';
import { DATAGRAM_MAX, kind } from './kind.ts';
import { type GridPoint, HANDLE_MAX, STEPS_MAX, type Turn, heading, isTurn, readPoint, takeTurn } from './pose.ts';

/** Steps per tick in one unit of motion. */
export const MOTION_UNIT = 4;
/** Parts of a metre per second in one unit of an own velocity. */
export const VELOCITY_PARTS = 256;

export interface Body {
  readonly handle: number;
  readonly place: GridPoint;
  readonly turn: Turn;
  readonly motion: readonly [number, number, number];
  readonly isElsewhere: boolean;
}

export interface OwnState {
  readonly acknowledged: number;
  readonly velocity: readonly [number, number, number];
  readonly isGrounded: boolean;
}

/** What precedes the bodies. */
export interface StateHead {
  readonly tick: number;
  readonly anchor: GridPoint;
  readonly own: OwnState | null;
}

export interface State extends StateHead {
  readonly bodies: readonly Body[];
}

export const PLACE_WIDTHS = [
  [14, 9, 14],
  [16, 11, 16],
  [16, 16, 16],
  [25, 25, 25],
] as const;
export const ANYWHERE = 3;
export const MOTION_WIDTHS = [
  [0, 0, 0],
  [6, 0, 6],
  [8, 8, 8],
  [14, 14, 14],
] as const;
/** A handle of one bit, the shortest place, and a body that neither moves nor turns. */
export const BODY_BITS_MIN = 1 + 2 + 37 + 5;

export function readHead(reader: Reader): StateHead {
  const tick = reader.u32('tick');
  const flags = reader.u8('flags');
  if (flags > 3 || flags === 2) throw reader.refuse('flags');
  const anchor = readPoint(reader, 'anchor');
  let own: OwnState | null = null;
  if ((flags & 1) !== 0) {
    const acknowledged = reader.u16('acknowledged');
    const part = () => reader.zigzag(32_767, 'velocity');
    own = { acknowledged, velocity: [part(), part(), part()], isGrounded: (flags & 2) !== 0 };
  }
  return { tick, anchor, own };
}

/** A state as an object; `StateBodies` is the fast way, and finds the same. */
export function readState(bytes: Uint8Array): State {
  const reader = new Reader(bytes, DATAGRAM_MAX);
  const { tick, anchor, own } = readHead(reader);
  const bits = new BitReader(reader.rest());
  const bodies: Body[] = [];
  let last = -1;
  while (bits.remaining >= BODY_BITS_MIN) {
    const body = takeBody(bits, last, anchor);
    if (body === null) throw reader.refuse('bodies');
    last = body.handle;
    bodies.push(body);
  }
  if (!bits.isAtEnd()) throw reader.refuse('bodies');
  return { tick, anchor, own, bodies };
}

function takeBody(bits: BitReader, last: number, anchor: GridPoint): Body | null {
  const handle = last + bits.takeGamma();
  const form = bits.take(2);
  const [x, y, z] = PLACE_WIDTHS[form]!;
  const isAnywhere = form === ANYWHERE;
  const place: GridPoint = [
    along(bits, anchor[0], x, isAnywhere),
    along(bits, anchor[1], y, isAnywhere),
    along(bits, anchor[2], z, isAnywhere),
  ];
  const isElsewhere = bits.take(1) === 1;
  const size = bits.take(2);
  const turnForm = bits.take(2);
  const [mx, my, mz] = MOTION_WIDTHS[size]!;
  const motion = [bits.takeSigned(mx), bits.takeSigned(my), bits.takeSigned(mz)] as const;
  const turn = takeTurn(turnForm, bits);
  const isWithin = Math.abs(place[0]) <= STEPS_MAX && Math.abs(place[1]) <= STEPS_MAX
    && Math.abs(place[2]) <= STEPS_MAX;
  if (bits.isShort || handle > HANDLE_MAX || !isWithin || (turnForm >= 2 && !isTurn(turn))) return null;
  return { handle, place, turn, motion, isElsewhere };
}

/** The number that ends in the next bits and is nearest to the anchor; with all bits, the number itself. */
function along(bits: BitReader, anchor: number, width: number, isAnywhere: boolean): number {
  const steps = bits.takeSigned(width);
  if (isAnywhere) return steps;
  const unused = 32 - width;
  return anchor + (((steps - anchor) << unused) >> unused);
}

/** Writes a state of walkers who are turned to headings: for tests and the bench, where a page plays the server. */
export function writeState(
  tick: number,
  anchor: GridPoint,
  bodies: readonly { handle: number; place: GridPoint; heading: number; motion: readonly [number, number, number] }[],
): Uint8Array<ArrayBuffer> {
  const writer = new Writer(kind.state);
  writer.u32(tick);
  writer.u8(0);
  anchor.forEach((steps) => writer.zigzag(steps));
  const bits = new BitWriter();
  let last = -1;
  for (const body of bodies) {
    bits.pushGamma(body.handle - last);
    last = body.handle;
    const form = placeForm(body.place, anchor);
    bits.push(form, 2);
    body.place.forEach((steps, axis) => bits.push(steps, PLACE_WIDTHS[form]![axis]!));
    bits.push(0, 1);
    const size = MOTION_WIDTHS.findIndex((widths) =>
      body.motion.every((units, axis) => fits(units, widths[axis]!)),
    );
    bits.push(size, 2);
    bits.push(body.heading === 0 ? 0 : 1, 2);
    body.motion.forEach((units, axis) => bits.push(units, MOTION_WIDTHS[size]![axis]!));
    if (body.heading !== 0) bits.push(body.heading, 8);
  }
  writer.raw(bits.end());
  return writer.end();
}

function placeForm(place: GridPoint, anchor: GridPoint): number {
  const isNear = (widths: readonly number[]) =>
    place.every((steps, axis) => fits(steps - anchor[axis]!, widths[axis]!));
  const form = PLACE_WIDTHS.slice(0, ANYWHERE).findIndex(isNear);
  return form < 0 ? ANYWHERE : form;
}

function fits(value: number, width: number): boolean {
  if (width === 0) return value === 0;
  const half = 2 ** (width - 1);
  return value >= -half && value < half;
}

export { heading };
