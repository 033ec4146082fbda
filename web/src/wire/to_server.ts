// What a client says.

import { Writer } from './codec.ts';
import { kind } from './kind.ts';

export const NICKNAME_MAX = 192;
export const SAID_MAX = 600;
export const STEPS_OF_MOVES_MAX = 8;

/** What a client wants in one tick. */
export interface Step {
  /** Along x, y and z, in 256ths of a metre per second. */
  readonly velocity: readonly [number, number, number];
  /** Where it looks, in 256ths of a turn. */
  readonly heading: number;
  readonly isJump: boolean;
}

export const STILL: Step = { velocity: [0, 0, 0], heading: 0, isJump: false };

export interface Hello {
  readonly version: number;
  readonly nickname: string;
  readonly avatar: number;
  readonly token: Uint8Array;
  readonly resume: Uint8Array | null;
}

export interface Moves {
  readonly heard: number;
  readonly tick: number;
  readonly newest: number;
  /** The newest first. */
  readonly steps: readonly Step[];
}

type Bytes = Uint8Array<ArrayBuffer>;

export function hello({ version, nickname, avatar, token, resume }: Hello): Bytes {
  const writer = new Writer(kind.hello);
  writer.u16(version);
  writer.text(nickname, NICKNAME_MAX);
  writer.u8(avatar);
  writer.counted(token);
  writer.u8(resume === null ? 0 : 1);
  if (resume !== null) writer.raw(resume);
  return writer.end();
}

export function say(text: string): Bytes {
  const writer = new Writer(kind.say);
  writer.text(text, SAID_MAX);
  return writer.end();
}

export function grab(object: number): Bytes {
  const writer = new Writer(kind.grab);
  writer.varint(object);
  return writer.end();
}

export function release(): Bytes {
  return new Writer(kind.release).end();
}

export function leave(): Bytes {
  return new Writer(kind.leave).end();
}

export function ping(askedUs: number): Bytes {
  const writer = new Writer(kind.ping);
  writer.i64(askedUs);
  return writer.end();
}

const JUMP = 1;
const SAME_VELOCITY = 2;
const SAME_HEADING = 4;
const LEVEL = 8;

export function moves({ heard, tick, newest, steps }: Moves): Bytes {
  const writer = new Writer(kind.moves);
  writer.u16(heard);
  writer.u32(tick);
  writer.u32(newest);
  writer.u8(Math.min(steps.length, STEPS_OF_MOVES_MAX));
  let last = STILL;
  for (const step of steps.slice(0, STEPS_OF_MOVES_MAX)) {
    const [x, y, z] = step.velocity;
    const isSame = step.velocity.every((part, axis) => part === last.velocity[axis]);
    const isHeading = step.heading === last.heading;
    const flags =
      (step.isJump ? JUMP : 0) |
      (isSame ? SAME_VELOCITY : 0) |
      (isHeading ? SAME_HEADING : 0) |
      (!isSame && y === 0 ? LEVEL : 0);
    writer.u8(flags);
    if (!isSame) {
      writer.u16(x);
      if (y !== 0) writer.u16(y);
      writer.u16(z);
    }
    if (!isHeading) writer.u8(step.heading);
    last = step;
  }
  return writer.end();
}
