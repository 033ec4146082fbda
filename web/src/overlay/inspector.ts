// The window into the engine.
import type * as three from 'three';
import type { Client } from '../client/client.ts';
import { element } from '../ui/element.ts';
export class Inspector {
  readonly root = element('aside', { class: 'inspector panel' });
  isOpen = false;
  constructor(_scene: three.Scene, _camera: three.Camera, _canvas: HTMLElement) { this.root.hidden = true; }
  toggle(): void { this.isOpen = !this.isOpen; this.root.hidden = !this.isOpen; }
  close(): void { this.isOpen = false; this.root.hidden = true; }
  draw(_client: Client, _elapsed: number): void {}
}
