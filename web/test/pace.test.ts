// Less is drawn where pictures stay slow, and only there.

import assert from 'node:assert/strict';
import test from 'node:test';

import { Pace } from '../src/view/pace.ts';

/** When less was to be drawn, in seconds from the first of these pictures. */
function told(pace: Pace, pictures: readonly number[]): number[] {
  let at = 0;
  return pictures.flatMap((seconds) => {
    at += seconds;
    return pace.isTooSlow(seconds) ? [at] : [];
  });
}

test('quick pictures are left as they are, and so is one that waited for long', () => {
  const pace = new Pace();
  assert.deepEqual(told(pace, Array(600).fill(1 / 60)), []);
  assert.deepEqual(told(pace, Array(300).fill(1 / 15)), [], 'fifteen a second will do');
  assert.deepEqual(told(pace, [120, ...Array(100).fill(1 / 60), 2, 2, ...Array(100).fill(1 / 60)]), [],
    'a hidden page is not a slow one');
});

test('where pictures stay slow less is drawn, step by step and not at once', () => {
  const pace = new Pace();
  told(pace, Array(60).fill(1 / 60));
  const steps = told(pace, Array(100).fill(0.15));
  assert.ok(steps.length >= 5, `${steps}`);
  assert.ok(steps[0]! >= 2 && steps[0]! < 4, `the first after ${steps[0]} s`);
  steps.slice(1).forEach((at, index) => assert.ok(at - steps[index]! > 1.9, `${steps}`));
  assert.deepEqual(told(pace, Array(600).fill(1 / 60)), [], 'and no further when that has helped');
});

test('where a picture takes a second it is not many pictures until less is drawn', () => {
  const steps = told(new Pace(), Array(10).fill(1));
  assert.ok(steps[0]! <= 6, `${steps}`);
});
