// Avatars that turn in the first dialog.

import * as three from 'three';

import type { AvatarLook } from '../link/link.ts';
import { Avatars } from './avatars.ts';

/** Objects with hues that look well beside each other. */
const OBJECTS = [5, 3, 1, 8] as const;
/** From sole to crown, in metres: what fills a portrait. */
const TALL = 1.8;

export class AvatarPortraits {
  private renderer: three.WebGLRenderer | null = null;
  private timer = 0;
  private readonly scene = new three.Scene();
  private readonly camera = new three.PerspectiveCamera(24, 1, 0.1, 20);
  private readonly avatars = new Avatars(true);

  private looks: readonly AvatarLook[] = [];
  private canvases: readonly HTMLCanvasElement[] = [];

  constructor(private readonly isLively: boolean) {
    this.scene.add(this.avatars.root, new three.HemisphereLight(0xbfd0ff, 0x8a6a58, 2));
    const sun = new three.DirectionalLight(0xffd9a0, 3);
    sun.position.set(-2, 2, 3);
    this.scene.add(sun);
    this.camera.position.set(0, 0.2, 4.7);
    this.camera.lookAt(0, 0, 0);
  }

  /** The avatar to draw, and where. */
  show(looks: readonly AvatarLook[], canvases: readonly HTMLCanvasElement[]): void {
    this.looks = looks;
    this.canvases = canvases;
  }

  start(): void {
    if (this.timer !== 0 || !this.isLively) return;
    this.renderer ??= new three.WebGLRenderer({ alpha: true, antialias: true });
    const { renderer } = this;
    renderer.setSize(192, 192, false);
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    let last = 0;
    const frame = (now: number) => {
      this.timer = requestAnimationFrame(frame);
      // Twenty pictures a second are enough for a slow turn.
      if (now - last < 50) return;
      last = now;
      // Side by side as they are; only who is taller than all is made to fit.
      const scale = 1 / Math.max(1, ...this.looks.map(({ height }) => height / TALL));
      this.looks.forEach(({ height, radius }, index) => {
        const heading = isCalm ? 0.4 : now / 1_600 + index;
        const half = (scale * height) / 2;
        const object = OBJECTS[index % OBJECTS.length]!;
        this.avatars.clear();
        this.avatars.begin(now / 1_000, 1);
        this.avatars.pose(this.avatars.enter(object, half, scale * radius, heading), 0, half - TALL / 2, 0, heading, 0,
          1);
        this.avatars.finish();
        renderer.render(this.scene, this.camera);
        const context = this.canvases[index]?.getContext('2d');
        context?.clearRect(0, 0, 192, 192);
        context?.drawImage(renderer.domElement, 0, 0);
      });
    };
    this.timer = requestAnimationFrame(frame);
  }

  stop(): void {
    cancelAnimationFrame(this.timer);
    this.timer = 0;
  }
}
