// Avatars that turn in the first dialog.

import * as three from 'three';

import { Avatars } from './avatars.ts';

/** What each choice looks like: half its height and its radius, and an object with a fitting hue. */
const LOOKS = [
  { half: 0.9, radius: 0.3, object: 5 },
  { half: 0.6, radius: 0.25, object: 3 },
] as const;

export class AvatarPortraits {
  private renderer: three.WebGLRenderer | null = null;
  private timer = 0;
  private readonly scene = new three.Scene();
  private readonly camera = new three.PerspectiveCamera(24, 1, 0.1, 20);
  private readonly avatars = new Avatars(true);

  constructor(private readonly canvases: readonly HTMLCanvasElement[], private readonly isLively: boolean) {
    this.scene.add(this.avatars.root, new three.HemisphereLight(0xbfd0ff, 0x8a6a58, 2));
    const sun = new three.DirectionalLight(0xffd9a0, 3);
    sun.position.set(-2, 2, 3);
    this.scene.add(sun);
    this.camera.position.set(0, 0.2, 4.7);
    this.camera.lookAt(0, 0, 0);
  }

  start(): void {
    if (this.timer !== 0 || !this.isLively) return;
    const canvas = document.createElement('canvas');
    this.renderer ??= new three.WebGLRenderer({ canvas, alpha: true, antialias: true });
    this.renderer.setSize(192, 192, false);
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    let last = 0;
    const frame = (now: number) => {
      this.timer = requestAnimationFrame(frame);
      // Twenty pictures a second are enough for a slow turn.
      if (now - last < 50) return;
      last = now;
      LOOKS.forEach((look, index) => {
        const heading = isCalm ? 0.4 : now / 1_600 + index;
        this.avatars.draw([{ ...look, x: 0, y: look.half - 0.9, z: 0, heading, speed: 0 }], 1, now / 1_000, 1);
        this.renderer?.render(this.scene, this.camera);
        const context = this.canvases[index]?.getContext('2d');
        context?.clearRect(0, 0, 192, 192);
        context?.drawImage(canvas, 0, 0);
      });
    };
    this.timer = requestAnimationFrame(frame);
  }

  stop(): void {
    cancelAnimationFrame(this.timer);
    this.timer = 0;
  }
}
