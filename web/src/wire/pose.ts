// Where something is and how it is turned: whole steps of the world's grid, and turns of 47 bits.

import { BitReader } from './bits.ts';
import type { Reader } from './codec.ts';

/** Steps of the grid in a metre. */
export const STEPS_PER_METRE = 1_024;
/** How many steps a place may be from zero, per axis. */
export const STEPS_MAX = 8_192 * STEPS_PER_METRE;
/** The highest handle. */
export const HANDLE_MAX = 4_095;

/** A place, in grid steps. */
export type GridPoint = readonly [number, number, number];
/** A rotation: x, y, z, w. */
export type Quat = readonly [number, number, number, number];

/** How something is turned: the 47 bits that name it. */
export type Turn = number;

export const LEVELS = 16_383;
const LEVEL = Math.SQRT1_2 / LEVELS;
export const WIDTH = 47;
/** The turn that is none. */
export const UNTURNED: Turn = fromLevels(3, [0, 0, 0]);

/** The bits of a quaternion without its largest number. */
function fromLevels(largest: number, [a, b, c]: readonly [number, number, number]): Turn {
  return ((largest * 32_768 + (a + LEVELS)) * 32_768 + (b + LEVELS)) * 32_768 + (c + LEVELS);
}

/** Turns that were worked out before: most are headings, of which there are 256. */
const worked = new Map<Turn, Quat>();
const WORKED_MAX = 4_096;

/** The rotation that a turn is. */
export function quat(turn: Turn): Quat {
  let found = worked.get(turn);
  if (found === undefined) {
    found = workOut(turn);
    if (worked.size < WORKED_MAX) worked.set(turn, found);
  }
  return found;
}

function workOut(turn: Turn): Quat {
  const c = (turn % 32_768) - LEVELS;
  const b = (Math.floor(turn / 32_768) % 32_768) - LEVELS;
  const a = (Math.floor(turn / 2 ** 30) % 32_768) - LEVELS;
  const numbers: [number, number, number, number] = [a * LEVEL, b * LEVEL, c * LEVEL, 0];
  const [x, y, z] = numbers;
  const rest = Math.sqrt(Math.max(0, 1 - (x * x + y * y + z * z)));
  const largest = Math.floor(turn / 2 ** 45) % 4;
  numbers.copyWithin(largest + 1, largest, 3);
  numbers[largest] = rest;
  return numbers;
}

/** The angle about the upright axis, in radians, of a rotation that has no other. */
export function headingOf([, y, , w]: Quat): number {
  return 2 * Math.atan2(y, w);
}

const angles = new Map<Turn, number>();

/** The same of a turn: walkers have few. */
export function angleOf(turn: Turn): number {
  let found = angles.get(turn);
  if (found === undefined) {
    found = headingOf(quat(turn));
    if (angles.size < WORKED_MAX) angles.set(turn, found);
  }
  return found;
}

/** The turn by 256ths of a circle about the upright axis. */
export function heading(part: number): Turn {
  return headings[part & 255]!;
}

function upright(radians: number): Turn {
  let y = Math.sin(radians / 2);
  let w = Math.cos(radians / 2);
  if (Math.abs(y) > Math.abs(w)) {
    if (y < 0) w = -w;
    return fromLevels(1, [0, 0, Math.round(w / LEVEL)]);
  }
  if (w < 0) y = -y;
  return fromLevels(3, [0, Math.round(y / LEVEL), 0]);
}

const headings: readonly Turn[] = Array.from({ length: 256 }, (_, part) => upright((part * 2 * Math.PI) / 256));

/** The 256th of a turn that is nearest to an angle. */
export function nearestHeading(radians: number): number {
  return Math.round((radians * 256) / (2 * Math.PI)) & 255;
}

/** A turn about the upright axis, by the level that is not zero, and whether y is the number that is left out. */
export function uprightTurn(level: number, isYLeftOut: boolean): Turn {
  return isYLeftOut ? fromLevels(1, [0, 0, level]) : fromLevels(3, [0, level, 0]);
}

/** A turn by its form, as bits. */
export function takeTurn(form: number, bits: BitReader): Turn {
  switch (form) {
    case 0:
      return UNTURNED;
    case 1:
      return headings[bits.take(8)]!;
    case 2: {
      const level = bits.take(15) - LEVELS;
      return uprightTurn(level, bits.take(1) === 1);
    }
    default:
      return bits.takeWide(WIDTH);
  }
}

export function readTurn(reader: Reader): Turn {
  const first = reader.u8('turn');
  const form = first & 3;
  const more = reader.raw([0, 1, 2, 6][form]!, 'turn');
  const bits = new BitReader(Uint8Array.from([first, ...more]));
  bits.take(2);
  const turn = takeTurn(form, bits);
  if (bits.isShort || !bits.isAtEnd() || !isTurn(turn)) throw reader.refuse('turn');
  return turn;
}

/** Whether bits are within what levels can be. */
export function isTurn(turn: Turn): boolean {
  const levels = [turn % 32_768, Math.floor(turn / 32_768) % 32_768, Math.floor(turn / 2 ** 30) % 32_768];
  return levels.every((level) => level <= 2 * LEVELS);
}

export function readPoint(reader: Reader, field: string): GridPoint {
  const steps = () => reader.zigzag(STEPS_MAX, field);
  return [steps(), steps(), steps()];
}

export function readObject(reader: Reader): number {
  const object = reader.varint(Number.MAX_SAFE_INTEGER, 'object');
  if (object === 0) throw reader.refuse('object');
  return object;
}

export function readHandle(reader: Reader): number {
  return reader.varint(HANDLE_MAX, 'handle');
}
