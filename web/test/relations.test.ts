// Relations are the maximal cliques: what trying every subset finds.

import assert from 'node:assert/strict';
import test from 'node:test';

import { partsBetween, parseMetrics } from '../src/overlay/metrics.ts';
import { relations } from '../src/overlay/relations.ts';
import { Frames, frame } from '../src/wire/frame.ts';

test('relations are what trying every subset finds', () => {
  let seed = 1;
  const random = () => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
  for (let round = 0; round < 60; round++) {
    const count = 1 + Math.floor(random() * 9);
    const edges = Array.from({ length: count }, () => Array.from({ length: count }, () => random() < 0.55));
    const isNext = (a: number, b: number) => edges[Math.min(a, b)]![Math.max(a, b)]!;
    const isClique = (set: number) => members(set).every((a) => members(set).every((b) => a === b || isNext(a, b)));
    const members = (set: number) => Array.from({ length: count }, (_, index) => index)
      .filter((index) => set & (1 << index));
    const cliques = Array.from({ length: 2 ** count }, (_, set) => set).filter((set) => isClique(set));
    const maximal = cliques.filter((set) => members(set).length > 1
      && !cliques.some((other) => other !== set && (other & set) === set));
    const found = relations(count, isNext).map((list) => list.reduce((set, index) => set | (1 << index), 0));
    assert.deepEqual(found.sort((a, b) => a - b), maximal.sort((a, b) => a - b), `round ${round}`);
  }
});

test('messages come whole, whatever the pieces', () => {
  const messages = Array.from({ length: 30 }, (_, index) => new Uint8Array(index + 1).fill(index));
  const stream = Uint8Array.from(messages.flatMap((message) => [...frame(message)]));
  for (const size of [1, 3, 7, 100, stream.length]) {
    const frames = new Frames();
    const heard: Uint8Array[] = [];
    for (let at = 0; at < stream.length; at += size) heard.push(...frames.arrived(stream.subarray(at, at + size))
      .map((message) => message.slice()));
    assert.deepEqual(heard, messages, `in pieces of ${size}`);
  }
  assert.throws(() => new Frames().arrived(Uint8Array.from([0xff, 0xff, 0xff, 0xff])));
});

test('the parts of a tick are read from the metrics', () => {
  const at = (count: number, sum: number) =>
    parseMetrics(
      `# TYPE\nkinesphere_tick_part_seconds_sum{part="world"} ${sum}\n` +
        `kinesphere_tick_part_seconds_count{part="world"} ${count}\n`,
    );
  assert.deepEqual(partsBetween(at(10, 0.5), at(20, 0.52)).map((ms) => Number(ms.toFixed(6))), [0, 2, 0, 0, 0]);
});
