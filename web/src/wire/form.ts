// What time it is for things that change their form. The twin of `crates/wire/src/form.rs`.

import type { Reader } from './codec.ts';
import { readHandle } from './pose.ts';

const FORMS_MAX = 128;

export interface Form {
  readonly handle: number;
  /** What its clock showed, in ticks. */
  readonly clock: number;
}

export interface Forms {
  readonly tick: number;
  readonly forms: readonly Form[];
}

export function readForms(reader: Reader): Forms {
  const tick = reader.u32('tick');
  const count = reader.count(FORMS_MAX, 2, 'forms');
  return { tick, forms: Array.from({ length: count }, () =>
    ({ handle: readHandle(reader), clock: reader.varint(Number.MAX_SAFE_INTEGER, 'clock') })) };
}
