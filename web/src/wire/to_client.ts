// What a server says.

import { DecodeError, Reader } from './codec.ts';
import { type Forms, readForms } from './form.ts';
import { ADDRESS_MAX, MESSAGE_MAX, kind } from './kind.ts';
import { type GridPoint, type Turn, readHandle, readObject, readPoint, readTurn } from './pose.ts';
import { type Shape, readShape } from './shape.ts';
import { type State, readState } from './state.ts';
import { NICKNAME_MAX, SAID_MAX } from './to_server.ts';

const SENTENCE_MAX = 300;
const ROSTER_MAX = 128;
const SOLIDS_MAX = 512;
const AMOUNT_MAX = 16_384;
const MOTION_MAX = 8_191;
const SERVERS_MAX = 64;
const ADDRESS_MIN = 4;

export const reasons = [
  'Version',
  'Nickname',
  'NicknameTaken',
  'Avatar',
  'Full',
  'NoRoom',
  'Token',
  'Banned',
  'Kicked',
  'Idle',
  'Misbehaved',
  'Slow',
  'Resumed',
  'Stopping',
  'Left',
] as const;
export type Reason = (typeof reasons)[number];

export interface Walking {
  readonly speedMax: number;
  readonly jumpSpeed: number;
  readonly gravity: number;
  readonly stepHeight: number;
}

export interface Welcome {
  readonly version: number;
  readonly resumeKey: Uint8Array;
  readonly isResumed: boolean;
  readonly own: number;
  readonly nickname: string;
  readonly tick: number;
  readonly tickUs: number;
  readonly timeUs: number;
  readonly aura: number;
  readonly walking: Walking;
  readonly bounds: readonly [GridPoint, GridPoint];
  readonly shape: Shape;
  readonly place: GridPoint;
  readonly turn: Turn;
  readonly newest: number;
}

export interface Refused {
  readonly version: number;
  readonly reason: Reason;
  readonly sentence: string;
}

export interface Solid {
  readonly object: number;
  readonly shape: Shape;
  readonly place: GridPoint;
  readonly turn: Turn;
}

export type EnteredKind = 'Avatar' | 'Movable' | 'Mover';

export interface Entered extends Solid {
  readonly handle: number;
  readonly kind: EnteredKind;
  readonly name: string;
  readonly motion: readonly [number, number, number];
}

export interface Roster {
  readonly number: number;
  readonly tick: number;
  readonly left: readonly number[];
  readonly entered: readonly Entered[];
}

export interface Pong {
  readonly askedUs: number;
  readonly receivedUs: number;
  readonly repliedUs: number;
  readonly tick: number;
  readonly tickedUs: number;
}

export type ToClient =
  | ({ readonly type: 'Welcome' } & Welcome)
  | ({ readonly type: 'Refused' } & Refused)
  | { readonly type: 'Scene'; readonly isLast: boolean; readonly solids: readonly Solid[] }
  | ({ readonly type: 'Roster' } & Roster)
  | { readonly type: 'Said'; readonly speaker: number | null; readonly name: string; readonly text: string }
  | { readonly type: 'Grabbed'; readonly object: number; readonly isHeld: boolean }
  | ({ readonly type: 'Closed' } & Refused)
  | { readonly type: 'Redirect'; readonly address: string }
  | { readonly type: 'Servers'; readonly addresses: readonly string[] }
  | ({ readonly type: 'State' } & State)
  | ({ readonly type: 'Forms' } & Forms)
  | ({ readonly type: 'Pong' } & Pong);

/** The message that these bytes are; a `DecodeError` is thrown for bytes that are none. */
export function decode(bytes: Uint8Array): ToClient {
  if (bytes[0] === kind.state) return { type: 'State', ...readState(bytes) };
  const reader = new Reader(bytes, MESSAGE_MAX);
  const message = read(reader);
  reader.end();
  return message;
}

function read(reader: Reader): ToClient {
  switch (reader.kind) {
    case kind.welcome:
      return { type: 'Welcome', ...readWelcome(reader) };
    case kind.refused:
      return { type: 'Refused', ...readRefused(reader) };
    case kind.scene: {
      const isLast = reader.bool('is_last');
      const count = reader.count(SOLIDS_MAX, 10, 'solids');
      return { type: 'Scene', isLast, solids: Array.from({ length: count }, () => readSolid(reader)) };
    }
    case kind.roster:
      return { type: 'Roster', ...readRoster(reader) };
    case kind.said: {
      const speaker = reader.varint(Number.MAX_SAFE_INTEGER, 'speaker');
      const name = reader.text(NICKNAME_MAX, 'name');
      return { type: 'Said', speaker: speaker === 0 ? null : speaker, name, text: reader.text(SAID_MAX, 'text') };
    }
    case kind.forms:
      return { type: 'Forms', ...readForms(reader) };
    case kind.grabbed:
      return { type: 'Grabbed', object: readObject(reader), isHeld: reader.bool('is_held') };
    case kind.closed:
      return { type: 'Closed', ...readRefused(reader) };
    case kind.redirect:
      return { type: 'Redirect', address: readAddress(reader) };
    case kind.servers: {
      const count = reader.count(SERVERS_MAX, 1 + ADDRESS_MIN, 'addresses');
      return { type: 'Servers', addresses: Array.from({ length: count }, () => readAddress(reader)) };
    }
    case kind.pong:
      return {
        type: 'Pong',
        askedUs: reader.i64('asked_us'),
        receivedUs: reader.i64('received_us'),
        repliedUs: reader.i64('replied_us'),
        tick: reader.u32('tick'),
        tickedUs: reader.i64('ticked_us'),
      };
    default:
      throw new DecodeError(reader.kind, 'kind', 'is unknown');
  }
}

function readWelcome(reader: Reader): Welcome {
  const version = reader.u16('version');
  const resumeKey = reader.raw(16, 'resume_key').slice();
  const isResumed = reader.bool('is_resumed');
  const own = readObject(reader);
  const nickname = reader.text(NICKNAME_MAX, 'nickname');
  const tick = reader.varint(Number.MAX_SAFE_INTEGER, 'tick');
  const tickUs = reader.varint(1_000_000, 'tick_us');
  if (tickUs === 0) throw reader.refuse('tick_us');
  const timeUs = reader.i64('time_us');
  const amount = (field: string) => reader.f32(0, AMOUNT_MAX, field);
  const aura = amount('aura');
  const walking = {
    speedMax: amount('speed_max'),
    jumpSpeed: amount('jump_speed'),
    gravity: amount('gravity'),
    stepHeight: amount('step_height'),
  };
  const bounds = [readPoint(reader, 'bounds'), readPoint(reader, 'bounds')] as const;
  const shape = readShape(reader);
  const place = readPoint(reader, 'place');
  const turn = readTurn(reader);
  const newest = reader.u32('newest');
  return { version, resumeKey, isResumed, own, nickname, tick, tickUs, timeUs, aura, walking, bounds, shape, place,
    turn, newest };
}

function readRefused(reader: Reader): Refused {
  const version = reader.u16('version');
  const reason = reasons[reader.u8('reason') - 1];
  if (reason === undefined) throw reader.refuse('reason');
  return { version, reason, sentence: reader.text(SENTENCE_MAX, 'sentence') };
}

function readAddress(reader: Reader): string {
  const address = reader.text(ADDRESS_MAX, 'address');
  if (new TextEncoder().encode(address).length < ADDRESS_MIN) throw reader.refuse('address');
  return address;
}

function readSolid(reader: Reader): Solid {
  return { object: readObject(reader), shape: readShape(reader), place: readPoint(reader, 'place'),
    turn: readTurn(reader) };
}

function readRoster(reader: Reader): Roster {
  const number = reader.u16('number');
  const tick = reader.u32('tick');
  const left = Array.from({ length: reader.count(ROSTER_MAX, 1, 'left') }, () => readHandle(reader));
  const count = reader.count(ROSTER_MAX, 16, 'entered');
  return { number, tick, left, entered: Array.from({ length: count }, () => readEntered(reader)) };
}

function readEntered(reader: Reader): Entered {
  const handle = readHandle(reader);
  const object = readObject(reader);
  const kind = (['Avatar', 'Movable', 'Mover'] as const)[reader.u8('kind')];
  if (kind === undefined) throw reader.refuse('kind');
  const name = reader.text(NICKNAME_MAX, 'name');
  const shape = readShape(reader);
  const place = readPoint(reader, 'place');
  const turn = readTurn(reader);
  const units = () => reader.zigzag(MOTION_MAX, 'motion');
  return { handle, object, kind, name, shape, place, turn, motion: [units(), units(), units()] };
}
