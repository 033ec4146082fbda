// Yesterday's bytes mean here what they mean to the server: both read the same golden vectors.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { DecodeError } from '../src/wire/codec.ts';
import { look } from '../src/wire/inside.ts';
import { VERSION } from '../src/wire/kind.ts';
import * as operator from '../src/wire/operator.ts';
import { heading, quat } from '../src/wire/pose.ts';
import { readState, writeState } from '../src/wire/state.ts';
import { decode } from '../src/wire/to_client.ts';
import * as toServer from '../src/wire/to_server.ts';

interface Vector {
  name: string;
  bytes: string;
  message: Record<string, any> | string;
}

const vectors = JSON.parse(readFileSync('../crates/wire/vectors/messages.json', 'utf8')) as {
  version: number;
  to_server: Vector[];
  to_client: Vector[];
  operator_version: number;
  from_operator: Vector[];
  to_operator: Vector[];
  headings: number[];
};

const unhex = (text: string) => Uint8Array.from(text.match(/../g) ?? [], (digits) => parseInt(digits, 16));
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** A message of the vectors with our names for its fields. */
function ours(value: any): any {
  if (Array.isArray(value)) return value.map(ours);
  if (value === null || typeof value !== 'object') return value;
  const named = Object.entries(value).map(([name, field]) => [
    name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
    ours(field),
  ]);
  return Object.fromEntries(named);
}

const forms: Record<string, string> = { Sphere: 'sphere', Box: 'box', Capsule: 'capsule', Model: 'model' };

/** What the vectors say, as the decoder says it. */
function expected(vector: Vector): any {
  const [type, fields] = Object.entries(ours(vector.message))[0] as [string, any];
  const shaped = (value: any): any => {
    if (Array.isArray(value)) return value.map(shaped);
    if (value === null || typeof value !== 'object') return value;
    const [name, inner] = Object.entries(value)[0] ?? ['', null];
    if (Object.keys(value).length === 1 && name in forms) return { form: forms[name], ...(inner as object) };
    return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, shaped(field)]));
  };
  const message = shaped(fields);
  if (type === 'State') {
    const bodies = message.bodies.map(([handle, body]: [number, object]) => ({ handle, ...body }));
    return { type, ...message.head, bodies };
  }
  return { type, ...message };
}

test('the version is the server’s', () => assert.equal(VERSION, vectors.version));

for (const vector of vectors.to_client) {
  test(`a page reads ${vector.name}`, () => {
    const found = JSON.parse(
      JSON.stringify(decode(unhex(vector.bytes)), (_, value) => (value instanceof Uint8Array ? [...value] : value)));
    assert.deepEqual(found, expected(vector));
  });
}

for (const vector of vectors.to_server) {
  test(`a page writes ${vector.name}`, () => {
    const message = typeof vector.message === 'string' ? { [vector.message]: {} } : vector.message;
    const [type, fields] = Object.entries(ours(message))[0] as [string, any];
    const bytes: Record<string, () => Uint8Array> = {
      Hello: () =>
        toServer.hello({
          ...fields,
          token: Uint8Array.from(fields.token),
          resume: fields.resume && Uint8Array.from(fields.resume),
        }),
      Say: () => toServer.say(fields.text),
      Grab: () => toServer.grab(fields.object),
      Release: () => toServer.release(),
      Leave: () => toServer.leave(),
      Moves: () => toServer.moves(fields),
      Ping: () => toServer.ping(fields.askedUs),
    };
    assert.equal(hex(bytes[type]!()), vector.bytes);
  });
}

test('the version of the operator’s stream is the server’s',
  () => assert.equal(operator.OPERATOR_VERSION, vectors.operator_version));

for (const vector of vectors.to_operator) {
  test(`a map reads ${vector.name}`, () => {
    const found = JSON.parse(JSON.stringify(operator.decodeOperator(unhex(vector.bytes))));
    const [type, fields] = Object.entries(vector.message)[0] as [string, any];
    const told = type === 'Known' ? { Known: { known: fields } } : vector.message;
    assert.deepEqual(found, expected({ ...vector, message: told }));
  });
}

for (const vector of vectors.from_operator) {
  test(`a map writes ${vector.name}`, () => {
    const [type, fields] = Object.entries(vector.message)[0] as [string, any];
    const bytes: Record<string, () => Uint8Array> = {
      Watch: () => operator.watch(Buffer.from(fields.token).toString()),
      Play: () => operator.play(fields.from, fields.to, fields.every),
      Look: () => look(fields),
    };
    assert.equal(hex(bytes[type]!()), vector.bytes);
  });
}

test('a heading is the turn that the server settles on', () => {
  vectors.headings.forEach((turn, part) => {
    const [one, other] = [quat(turn), quat(heading(part))];
    // Sines of 32 and of 64 bits may round to neighbouring levels.
    const cosine = Math.abs(one.reduce((sum, number, axis) => sum + number * other[axis]!, 0));
    assert.ok(cosine > 1 - 1e-8, `heading ${part}`);
  });
});

test('bytes that were cut off, prolonged or changed are refused or read, and nothing else happens', () => {
  for (const vector of vectors.to_client) {
    const bytes = unhex(vector.bytes);
    for (let length = 0; length < bytes.length; length++) attempt(bytes.subarray(0, length));
    attempt(Uint8Array.from([...bytes, 0xff]));
    for (let at = 0; at < bytes.length; at++) {
      for (const bit of [1, 0x10, 0x80]) {
        const changed = bytes.slice();
        changed[at]! ^= bit;
        attempt(changed);
      }
    }
  }
});

function attempt(bytes: Uint8Array): void {
  try {
    decode(bytes);
  } catch (error) {
    assert.ok(error instanceof DecodeError, String(error));
  }
}

test('what a page writes as a state, a page reads', () => {
  const bodies = Array.from({ length: 40 }, (_, index) => ({
    handle: 3 * index,
    place: [index * 1_500 - 20_000, 900 + index, 77 * index] as const,
    heading: (index * 7) & 255,
    motion: [index - 20, 0, 20 - index] as const,
  }));
  const state = readState(writeState(77, [5, 900, -9], bodies));
  assert.deepEqual(state.bodies.map(({ handle, place, motion }) => ({ handle, place, motion })),
    bodies.map(({ handle, place, motion }) => ({ handle, place, motion })));
});
