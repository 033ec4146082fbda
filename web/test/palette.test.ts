// The sky of a world file tints the page.

import assert from 'node:assert/strict';
import test from 'node:test';

import { DUSK, tinted } from '../src/view/palette.ts';

const channels = (colour: number): number[] => [colour >> 16 & 255, colour >> 8 & 255, colour & 255];

test('a sky moves every colour towards it, and none beyond', () => {
  for (const sky of ['#9fc6e8', '#F2D8B0', '#000000', '#ffffff']) {
    const colours = tinted(sky)!;
    const own = channels(Number.parseInt(sky.slice(1), 16));
    for (const name of ['zenith', 'middle', 'horizon', 'fog'] as const) {
      channels(colours[name]).forEach((value, index) => {
        const [before, aim] = [channels(DUSK[name])[index]!, own[index]!];
        assert.ok(value >= Math.min(before, aim) && value <= Math.max(before, aim), `${name} of ${sky}: ${value}`);
        assert.ok(before === aim || value !== before || Math.abs(aim - before) < 3, `${name} of ${sky} is not tinted`);
      });
    }
  }
});

test('what is no colour tints nothing', () => {
  for (const text of ['', 'blue', '#fff', '#9fc6e', '#9fc6e8ff', '#gggggg']) assert.equal(tinted(text), null, text);
});
