// Shapes of many corners: made once for each mesh, and for what changes its form once for each object, which then
// follows its clock.

import * as three from 'three';

import { type Look, type Models as Told, NO_MODELS } from '../client/models.ts';
import { Forming } from '../motion/form.ts';

export class Models {
  private told: Told = NO_MODELS;
  private looks: ReadonlyMap<number, Look> = new Map();
  private readonly geometries = new Map<number, three.BufferGeometry>();

  /** Takes what the server told; gives the objects whose looks are known now. */
  take(told: Told): Iterable<number> {
    this.told = told;
    this.looks = new Map(told.objects.map((look) => [look.object, look]));
    this.geometries.clear();
    return this.looks.keys();
  }

  get tickRate(): number {
    return this.told.tick_rate;
  }

  /** The shape of an object at rest, shared by all that look alike; none if it was not told. */
  geometry(object: number): three.BufferGeometry | null {
    const look = this.looks.get(object);
    if (look === undefined) return null;
    let geometry = this.geometries.get(look.mesh);
    if (geometry === undefined) {
      geometry = this.make(look);
      this.geometries.set(look.mesh, geometry);
    }
    return geometry;
  }

  /** An object that changes its form: its own shape, and what puts it into the form of a moment. None for others. */
  forming(object: number): { geometry: three.BufferGeometry; form(seconds: number): void } | null {
    const look = this.looks.get(object);
    if (look === undefined || look.deformation === null) return null;
    const geometry = this.make(look);
    const places = geometry.getAttribute('position') as three.BufferAttribute;
    const forming = new Forming(look.deformation, Float32Array.from(places.array));
    const form = (seconds: number) => {
      forming.place(seconds, places.array);
      places.needsUpdate = true;
      geometry.computeVertexNormals();
    };
    form(0);
    return { geometry, form };
  }

  private make({ mesh }: Look): three.BufferGeometry {
    const { vertices, triangles } = this.told.meshes[mesh]!;
    const geometry = new three.BufferGeometry();
    geometry.setAttribute('position', new three.BufferAttribute(Float32Array.from(vertices), 3));
    geometry.setIndex(new three.BufferAttribute(Uint32Array.from(triangles), 1));
    geometry.computeVertexNormals();
    // It may move beyond what it is at rest.
    geometry.computeBoundingSphere();
    return geometry;
  }
}
