// What an operator sees of the engine itself: the twin of `crates/wire/src/inside.rs`.

import { type Reader, Writer } from './codec.ts';
import { kind } from './kind.ts';
import { readObject } from './pose.ts';

const GROUPS_MAX = 256;
const MEMBERS_MAX = 4_096;
const CELLS_MAX = 4_096;
const HEARINGS_MAX = 512;
const U32_MAX = 2 ** 32 - 1;

/** What is to be told from now on. */
export interface Wanted {
  readonly places: boolean;
  readonly groups: boolean;
  readonly cells: boolean;
  /** The users that hear this one, and those that it hears; what is near to it comes first. */
  readonly object: number | null;
}

/** Those who hear each other: every two of them. */
export interface Group {
  readonly number: number;
  readonly members: readonly number[];
}

export interface Groups {
  readonly tick: number;
  /** How many there are; of the others there was no room to tell. */
  readonly all: number;
  readonly groups: readonly Group[];
}

/** The cells into which a tick's broad phase sorted the objects. */
export interface Cells {
  readonly tick: number;
  /** The ground's low corner, x and z, and a cell's width, in grid steps. */
  readonly low: readonly [number, number];
  readonly edge: number;
  /** Cells along x and along z. */
  readonly counts: readonly [number, number];
  readonly all: number;
  /** Numbers of cells, which count along x first, and how many are in each. */
  readonly occupied: readonly (readonly [number, number])[];
}

export interface Hearing {
  readonly tick: number;
  readonly object: number;
  readonly hearsAll: number;
  readonly hears: readonly number[];
  readonly heardByAll: number;
  readonly heardBy: readonly number[];
}

export function look({ places, groups, cells, object }: Wanted): Uint8Array<ArrayBuffer> {
  const writer = new Writer(kind.look);
  writer.u8((places ? 1 : 0) | (groups ? 2 : 0) | (cells ? 4 : 0));
  writer.varint(object ?? 0);
  return writer.end();
}

export function readGroups(reader: Reader): Groups {
  const tick = reader.varint(Number.MAX_SAFE_INTEGER, 'tick');
  const all = reader.varint(U32_MAX, 'all');
  const count = reader.count(GROUPS_MAX, 4, 'groups');
  let [room, last] = [MEMBERS_MAX, -1];
  const groups = Array.from({ length: count }, (): Group => {
    const number = reader.varint(Number.MAX_SAFE_INTEGER, 'groups');
    const members = readRising(reader, room, 'members');
    if (members.length < 2 || number <= last) throw reader.refuse('groups');
    room -= members.length;
    last = number;
    return { number, members };
  });
  if (groups.length > all) throw reader.refuse('all');
  return { tick, all, groups };
}

export function readCells(reader: Reader): Cells {
  const tick = reader.varint(Number.MAX_SAFE_INTEGER, 'tick');
  const corner = () => reader.zigzag(2 ** 31 - 1, 'low');
  const low = [corner(), corner()] as const;
  const edge = reader.varint(2 ** 30, 'edge');
  const across = () => reader.varint(2 ** 24, 'counts');
  const counts = [across(), across()] as const;
  const all = reader.varint(U32_MAX, 'all');
  const count = reader.count(CELLS_MAX, 2, 'cells');
  let next = 0;
  const occupied = Array.from({ length: count }, () => {
    const cell = next + reader.varint(U32_MAX, 'cells');
    const inside = reader.varint(U32_MAX, 'cells');
    if (cell >= counts[0] * counts[1] || cell > U32_MAX || inside === 0) throw reader.refuse('cells');
    next = cell + 1;
    return [cell, inside] as const;
  });
  if (occupied.length > all) throw reader.refuse('all');
  return { tick, low, edge, counts, all, occupied };
}

export function readHearing(reader: Reader): Hearing {
  const tick = reader.varint(Number.MAX_SAFE_INTEGER, 'tick');
  const object = readObject(reader);
  const hearsAll = reader.varint(U32_MAX, 'all');
  const hears = readRising(reader, HEARINGS_MAX, 'hears');
  const heardByAll = reader.varint(U32_MAX, 'all');
  const heardBy = readRising(reader, HEARINGS_MAX, 'heard_by');
  if (hears.length > hearsAll || heardBy.length > heardByAll) throw reader.refuse('all');
  return { tick, object, hearsAll, hears, heardByAll, heardBy };
}

/** Objects by rising numbers, each by how much it is above the last. */
function readRising(reader: Reader, max: number, field: string): number[] {
  let object = 0;
  return Array.from({ length: reader.count(max, 1, field) }, () => {
    const gap = reader.varint(Number.MAX_SAFE_INTEGER, field);
    object += gap;
    if (gap === 0 || object > Number.MAX_SAFE_INTEGER) throw reader.refuse(field);
    return object;
  });
}
