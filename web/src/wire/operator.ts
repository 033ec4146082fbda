// What a server and an operator say to each other: the twin of `crates/wire/src/operator.rs`.

import { DecodeError, Reader, Writer } from './codec.ts';
import { type Cells, type Groups, type Hearing, readCells, readGroups, readHearing } from './inside.ts';
import { ADDRESS_MAX, MESSAGE_MAX, kind } from './kind.ts';
import { type GridPoint, STEPS_MAX, readObject, readPoint } from './pose.ts';
import { type Shape, readShape } from './shape.ts';
import { type EnteredKind, type Refused, type Solid, decode as decodeClient } from './to_client.ts';
import { NICKNAME_MAX } from './to_server.ts';

export const OPERATOR_VERSION = 3;
const OBJECTS_MAX = 2_048;
const REGIONS_MAX = 1_024;

export interface Watched {
  readonly version: number;
  readonly name: string;
  readonly tickUs: number;
  readonly aura: number;
  readonly bounds: readonly [GridPoint, GridPoint];
  /** The oldest and the newest tick that can be shown again. */
  readonly past: readonly [number, number] | null;
}

export interface Known {
  readonly object: number;
  readonly kind: EnteredKind;
  readonly isUser: boolean;
  readonly name: string;
  readonly shape: Shape;
}

export interface View {
  readonly tick: number;
  readonly isLive: boolean;
  readonly isLast: boolean;
  readonly places: readonly (readonly [number, GridPoint])[];
}

/** A region of the ground, and which node of a cluster decides about it. */
export interface Region {
  readonly node: string;
  /** Whether that is the node that tells this. */
  readonly isOwn: boolean;
  /** Corners, x and z, in steps. */
  readonly low: readonly [number, number];
  readonly high: readonly [number, number];
}

export interface Borders {
  readonly plan: number;
  readonly regions: readonly Region[];
}

export type ToOperator =
  | ({ readonly type: 'Watched' } & Watched)
  | ({ readonly type: 'Refused' } & Refused)
  | { readonly type: 'Scene'; readonly isLast: boolean; readonly solids: readonly Solid[] }
  | { readonly type: 'Known'; readonly known: readonly Known[] }
  | ({ readonly type: 'View' } & View)
  | { readonly type: 'Played'; readonly to: number }
  | ({ readonly type: 'Groups' } & Groups)
  | ({ readonly type: 'Cells' } & Cells)
  | ({ readonly type: 'Hearing' } & Hearing)
  | ({ readonly type: 'Borders' } & Borders);

export function watch(token: string): Uint8Array<ArrayBuffer> {
  const writer = new Writer(kind.watch);
  writer.u16(OPERATOR_VERSION);
  writer.counted(new TextEncoder().encode(token));
  return writer.end();
}

export function play(from: number, to: number, every: number): Uint8Array<ArrayBuffer> {
  const writer = new Writer(kind.play);
  for (const number of [from, to, every]) writer.varint(number);
  return writer.end();
}

export function decodeOperator(bytes: Uint8Array): ToOperator {
  const reader = new Reader(bytes, MESSAGE_MAX);
  const message = read(reader);
  if (message.type !== 'Refused' && message.type !== 'Scene') reader.end();
  return message;
}

function read(reader: Reader): ToOperator {
  const whole = (field: string) => reader.varint(Number.MAX_SAFE_INTEGER, field);
  switch (reader.kind) {
    case kind.watched: {
      const version = reader.u16('version');
      const name = reader.text(NICKNAME_MAX, 'name');
      const tickUs = reader.varint(1_000_000, 'tick_us');
      const aura = reader.f32(0, 16_384, 'aura');
      const bounds = [readPoint(reader, 'bounds'), readPoint(reader, 'bounds')] as const;
      const past = reader.bool('past') ? ([whole('past'), whole('past')] as const) : null;
      return { type: 'Watched', version, name, tickUs, aura, bounds, past };
    }
    case kind.known: {
      const count = reader.count(OBJECTS_MAX, 8, 'known');
      return { type: 'Known', known: Array.from({ length: count }, () => readKnown(reader)) };
    }
    case kind.view: {
      const tick = whole('tick');
      const flags = reader.u8('flags');
      if (flags > 3) throw reader.refuse('flags');
      const count = reader.count(OBJECTS_MAX, 4, 'places');
      let object = 0;
      const places = Array.from({ length: count }, () => {
        const gap = whole('places');
        if (gap === 0) throw reader.refuse('places');
        object += gap;
        return [object, readPoint(reader, 'places')] as const;
      });
      return { type: 'View', tick, isLive: (flags & 1) !== 0, isLast: (flags & 2) !== 0, places };
    }
    case kind.played:
      return { type: 'Played', to: whole('to') };
    case kind.groups:
      return { type: 'Groups', ...readGroups(reader) };
    case kind.cells:
      return { type: 'Cells', ...readCells(reader) };
    case kind.hearing:
      return { type: 'Hearing', ...readHearing(reader) };
    case kind.borders: {
      const plan = whole('plan');
      const count = reader.count(REGIONS_MAX, 7, 'regions');
      return { type: 'Borders', plan, regions: Array.from({ length: count }, () => readRegion(reader)) };
    }
    case kind.refused:
    case kind.scene: {
      const message = decodeClient(reader.bytes);
      if (message.type === 'Refused' || message.type === 'Scene') return message;
      throw new DecodeError(reader.kind, 'kind', 'is not for operators');
    }
    default:
      throw new DecodeError(reader.kind, 'kind', 'is unknown');
  }
}

function readKnown(reader: Reader): Known {
  const object = readObject(reader);
  const flags = reader.u8('kind');
  const entered = (['Avatar', 'Movable', 'Mover'] as const)[flags & 3];
  if (flags > 7 || entered === undefined) throw reader.refuse('kind');
  const name = reader.text(NICKNAME_MAX, 'name');
  return { object, kind: entered, isUser: (flags & 4) !== 0, name, shape: readShape(reader) };
}

function readRegion(reader: Reader): Region {
  const node = reader.text(ADDRESS_MAX, 'node');
  if (node === '') throw reader.refuse('node');
  const isOwn = reader.bool('is_own');
  const edge = () => {
    const low = reader.zigzag(STEPS_MAX, 'low');
    return [low, low + reader.varint(2 * STEPS_MAX, 'high')] as const;
  };
  const [x, z] = [edge(), edge()];
  return { node, isOwn, low: [x[0], z[0]], high: [x[1], z[1]] };
}
