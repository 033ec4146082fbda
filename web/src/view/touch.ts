// Touch is seen: a soft ring where two bodies meet.

import * as three from 'three';

import { LAYERS } from './palette.ts';

const RINGS_MAX = 24;
const LIFE_S = 0.6;

export class Rings {
  readonly root = new three.Group();
  private readonly rings: { mesh: three.Mesh; material: three.MeshBasicMaterial; age: number }[] = [];
  private next = 0;

  constructor() {
    const geometry = new three.RingGeometry(0.8, 1, 40);
    for (let index = 0; index < RINGS_MAX; index++) {
      const material = new three.MeshBasicMaterial(
        { color: 0xffe7d0, transparent: true, depthWrite: false, side: three.DoubleSide });
      const mesh = new three.Mesh(geometry, material);
      mesh.visible = false;
      this.root.add(mesh);
      this.rings.push({ mesh, material, age: LIFE_S });
    }
  }

  /** A touch at this place, on a surface with this normal. */
  add(at: three.Vector3Like, normal: three.Vector3Like, isMarked: boolean): void {
    const ring = this.rings[this.next]!;
    this.next = (this.next + 1) % RINGS_MAX;
    ring.age = 0;
    ring.mesh.position.copy(at);
    ring.mesh.quaternion.setFromUnitVectors(new three.Vector3(0, 0, 1), new three.Vector3().copy(normal).normalize());
    ring.material.color.set(isMarked ? LAYERS.contact : 0xffe7d0);
  }

  animate(elapsed: number): void {
    for (const ring of this.rings) {
      ring.age += elapsed;
      const share = ring.age / LIFE_S;
      ring.mesh.visible = share < 1;
      if (share >= 1) continue;
      ring.mesh.scale.setScalar(0.12 + 0.4 * Math.sqrt(share));
      ring.material.opacity = 0.7 * (1 - share) ** 2;
    }
  }
}
