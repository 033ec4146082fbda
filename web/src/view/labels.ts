// Names above heads: those who are near, fading with distance, none over another.

import * as three from 'three';

const SHOWN_MAX = 40;
/** Beyond the last, avatars are not updated in every frame. */
const FADE = { from: 12, to: 30 };

export interface Named {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly isSpeaking: boolean;
}

export class Labels {
  private readonly pool: HTMLElement[] = [];
  private readonly at = new three.Vector3();

  constructor(private readonly root: HTMLElement) {}

  /** Whether a name there could be read. */
  isWithin(x: number, y: number, z: number, camera: three.Camera): boolean {
    return this.at.set(x, y, z).distanceToSquared(camera.position) <= FADE.to * FADE.to;
  }

  draw(named: readonly Named[], camera: three.Camera, width: number, height: number): void {
    const seen: { name: string; x: number; y: number; away: number; isSpeaking: boolean }[] = [];
    for (const { name, x, y, z, isSpeaking } of named) {
      if (name === '') continue;
      this.at.set(x, y, z);
      const away = this.at.distanceTo(camera.position);
      if (away > FADE.to) continue;
      this.at.project(camera);
      if (this.at.z > 1 || Math.abs(this.at.x) > 1.1 || Math.abs(this.at.y) > 1.1) continue;
      seen.push({ name, x: (0.5 + 0.5 * this.at.x) * width, y: (0.5 - 0.5 * this.at.y) * height, away, isSpeaking });
    }
    seen.sort((a, b) => a.away - b.away);
    const taken: { left: number; right: number; top: number; bottom: number }[] = [];
    let count = 0;
    for (const { name, x, y, away, isSpeaking } of seen) {
      if (count === SHOWN_MAX) break;
      const half = 6 + 3.6 * name.length;
      const place = { left: x - half, right: x + half, top: y - 20, bottom: y + 2 };
      const isFree = taken.every((other) => place.right < other.left || place.left > other.right
        || place.bottom < other.top || place.top > other.bottom);
      if (!isFree) continue;
      taken.push(place);
      const label = this.label(count);
      count += 1;
      if (label.textContent !== name) label.textContent = name;
      label.classList.toggle('speaking', isSpeaking);
      label.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px) translate(-50%, -100%)`;
      label.style.opacity = String(Math.min(1, Math.max(0, (FADE.to - away) / (FADE.to - FADE.from))));
      label.hidden = false;
    }
    this.hideFrom(count);
  }

  clear(): void {
    this.hideFrom(0);
  }

  private hideFrom(count: number): void {
    for (let index = count; index < this.pool.length; index++) this.pool[index]!.hidden = true;
  }

  private label(index: number): HTMLElement {
    let label = this.pool[index];
    if (label === undefined) {
      label = document.createElement('div');
      label.className = 'name';
      this.root.append(label);
      this.pool[index] = label;
    }
    return label;
  }
}
