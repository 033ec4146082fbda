// Numbers that float in the world: each text is drawn once and kept while it is of use.

import * as three from 'three';

import { css } from '../ui/element.ts';

const SHOWN_MAX = 64;
const KEPT_MAX = 256;

export class Tags {
  readonly root = new three.Group();
  private readonly sprites: three.Sprite[] = [];
  private readonly kept = new Map<string, three.SpriteMaterial>();
  private count = 0;

  clear(): void {
    this.count = 0;
    if (this.kept.size <= KEPT_MAX) return;
    for (const material of this.kept.values()) {
      material.map?.dispose();
      material.dispose();
    }
    this.kept.clear();
  }

  add(text: string, colour: number, x: number, y: number, z: number): void {
    if (this.count === SHOWN_MAX) return;
    let sprite = this.sprites[this.count];
    if (sprite === undefined) {
      sprite = new three.Sprite();
      sprite.scale.set(0.9, 0.45, 1);
      sprite.renderOrder = 6;
      this.sprites.push(sprite);
      this.root.add(sprite);
    }
    this.count += 1;
    sprite.material = this.material(text, colour);
    sprite.position.set(x, y, z);
  }

  end(): void {
    this.sprites.forEach((sprite, index) => (sprite.visible = index < this.count));
  }

  private material(text: string, colour: number): three.SpriteMaterial {
    const key = `${text} ${colour}`;
    let material = this.kept.get(key);
    if (material === undefined) {
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [128, 64];
      const context = canvas.getContext('2d');
      if (context !== null) {
        context.font = '600 40px ui-monospace, monospace';
        context.textAlign = 'center';
        context.lineWidth = 8;
        context.strokeStyle = 'rgba(10, 12, 24, 0.85)';
        context.strokeText(text, 64, 46);
        context.fillStyle = css(colour);
        context.fillText(text, 64, 46);
      }
      material = new three.SpriteMaterial(
        { map: new three.CanvasTexture(canvas), depthTest: false, fog: false, toneMapped: false });
      this.kept.set(key, material);
    }
    return material;
  }
}
