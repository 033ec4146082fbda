// Keeps out a bug: what was made for one object stayed in the memory of the graphics card when the object was gone.

import assert from 'node:assert/strict';
import test from 'node:test';

import type { Models } from '../src/view/models.ts';
import type { Thing } from '../src/view/things.ts';

// Materials draw their pictures when they are made; here they are not seen.
Object.assign(globalThis, { document: { createElement: () => ({ width: 0, height: 0, getContext: () => null }) } });
const { Things } = await import('../src/view/things.ts');

const unknown = { forming: () => null, geometry: () => null, tickRate: 30 } as unknown as Models;
const thing = (object: number, shape: Thing['shape']): Thing =>
  ({ object, kind: 'Movable', shape, pos: { x: 0, y: 0, z: 0 }, rot: [0, 0, 0, 1], clock: null });

test('what was made for one object goes with it, and what many share stays', () => {
  const things = new Things(unknown);
  const gone: string[] = [];
  things.draw([
    thing(1, { form: 'capsule', halfHeight: 1, radius: 0.5 }),
    thing(2, { form: 'box', half: [1, 1, 1] }),
    thing(3, { form: 'sphere', radius: 1 }),
  ]);
  const meshes = [...things.root.children] as unknown as { geometry: { addEventListener(event: 'dispose',
    then: () => void): void } }[];
  meshes.forEach(({ geometry }, index) =>
    geometry.addEventListener('dispose', () => gone.push(`geometry ${index + 1}`)));
  things.highlight(2);
  const lit = (things.root.children[1] as unknown as { material: { addEventListener(event: 'dispose',
    then: () => void): void } }).material;
  lit.addEventListener('dispose', () => gone.push('highlight of 2'));
  things.draw([]);
  assert.deepEqual(gone.sort(), ['geometry 1', 'highlight of 2']);
  assert.equal(things.root.children.length, 0);
});
