// The welcome of a server, for tests that play one.

import { Writer } from '../src/wire/codec.ts';
import { VERSION, kind } from '../src/wire/kind.ts';

export const TICK_US = 33_333;

export function welcome(tick: number, isResumed: boolean): Uint8Array {
  const writer = new Writer(kind.welcome);
  writer.u16(VERSION);
  writer.raw(new Uint8Array(16).fill(5));
  writer.u8(isResumed ? 1 : 0);
  writer.varint(77);
  writer.counted(new TextEncoder().encode('Ann'));
  writer.varint(tick);
  writer.varint(TICK_US);
  writer.i64(tick * TICK_US);
  for (const amount of [20, 5, 4.5, 9.81, 0.35]) writer.f32(amount);
  for (const steps of [-10_240, 0, -10_240, 10_240, 10_240, 10_240]) writer.zigzag(steps);
  writer.u8(2);
  writer.f32(0.6);
  writer.f32(0.3);
  for (const steps of [0, 922, 0]) writer.zigzag(steps);
  writer.u8(0);
  writer.u32(0);
  return writer.end();
}
