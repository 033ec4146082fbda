// Keeps out a bug: when it was told what shapes of many corners look like, everything was built anew, and the first
// seconds of a visit froze.

import assert from 'node:assert/strict';
import test from 'node:test';
import * as three from 'three';

import { Models } from '../src/view/models.ts';
import { Place } from '../src/view/place.ts';
import type { Thing } from '../src/view/things.ts';
import { UNTURNED } from '../src/wire/pose.ts';
import type { Shape } from '../src/wire/shape.ts';
import type { Solid } from '../src/wire/to_client.ts';

// Crates and balls paint their planks and stripes; here they are not seen.
Object.assign(globalThis, { document: { createElement: () => ({ getContext: () => null }) } });
const { Things } = await import('../src/view/things.ts');

const TOLD = {
  tick_rate: 30,
  meshes: [{ vertices: [0, 0, 0, 1, 0, 0, 0, 1, 0], triangles: [0, 1, 2] }],
  objects: [2, 5, 9].map((object) => ({ object, mesh: 0, deformation: null })),
};
const MODEL: Shape = { form: 'model', name: 'statue', radius: 0.5 };
const BOX: Shape = { form: 'box', half: [1, 1, 1] };

function thing(object: number, shape: Shape): Thing {
  return { object, kind: 'Movable', shape, pos: { x: object, y: 0, z: 0 }, rot: [0, 0, 0, 1], clock: null };
}

test('of all things only those are made anew whose looks were told', () => {
  const models = new Models();
  const things = new Things(models);
  const all = [thing(1, BOX), thing(2, MODEL), thing(3, { form: 'sphere', radius: 0.4 }), thing(4, MODEL),
    thing(5, MODEL)];
  things.draw(all);
  const before = [...things.root.children] as three.Mesh[];
  assert.equal(things.made, 5);

  things.renew(models.take(TOLD));
  things.draw(all);
  assert.equal(things.made, 7, 'the second and the fifth');
  const after = new Set(things.root.children);
  assert.deepEqual(before.map((mesh) => after.has(mesh)), [true, false, true, true, false]);
  for (const mesh of [...after].filter((mesh) => !before.includes(mesh as three.Mesh)) as three.Mesh[]) {
    assert.equal(mesh.geometry.getAttribute('position').count, 3, 'as it was told');
    assert.equal(mesh.scale.x, 1);
    const stood = before.find((other) => other.position.equals(mesh.position))!;
    assert.equal(mesh.material, stood.material, 'no other shader has to be made');
  }
});

test('of a place only the sculptures change, and whoever comes back to it finds it standing', () => {
  const solid = (object: number, shape: Shape): Solid =>
    ({ object, shape, place: [object * 4_096, 1_024, 0], turn: UNTURNED });
  const solids = () => [solid(7, BOX), solid(8, { form: 'capsule', halfHeight: 1, radius: 0.3 }), solid(9, MODEL),
    solid(10, MODEL)];
  const bounds = [[-9_999, 0, -9_999], [9_999, 9_999, 9_999]] as const;
  const models = new Models();
  const place = new Place(bounds, solids(), models);
  const meshes = () => {
    const found: three.Mesh[] = [];
    place.root.traverse((object) => object instanceof three.Mesh && found.push(object));
    return found;
  };
  const [before, geometries] = [meshes(), meshes().map((mesh) => mesh.geometry)];
  place.renew(models.take(TOLD));
  assert.deepEqual(meshes().map((mesh) => mesh.uuid), before.map((mesh) => mesh.uuid), 'nothing was built');
  const changed = meshes().filter((mesh, index) => mesh.geometry !== geometries[index]);
  assert.equal(changed.length, 1);
  assert.equal(changed[0]!.parent!.position.x, 36, 'the one whose looks were told');

  assert.ok(place.isOf(bounds, solids()));
  assert.ok(!place.isOf(bounds, solids().slice(1)));
  assert.ok(!place.isOf([bounds[0], [9_999, 9_999, 9_998]], solids()));
});
