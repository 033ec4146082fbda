// The camera: behind and above, gently sprung, never inside a wall; or in the head.

import * as three from 'three';

import type { Ground } from '../client/walk.ts';
import type { Vec } from '../motion/vector.ts';

const DISTANCE = { least: 1.6, most: 16, first: 5.5 };
const PITCH = { least: -0.35, most: 1.3 };

export class Camera {
  /** Where one looks: radians about the upright axis, and downwards. */
  yaw = 0;
  pitch = 0.28;
  isFirstPerson = false;
  private distance = DISTANCE.first;
  private shownDistance = DISTANCE.first;
  private readonly focus = new three.Vector3();
  private isPlaced = false;

  constructor(private readonly camera: three.PerspectiveCamera) {}

  turn(yaw: number, pitch: number): void {
    this.yaw += yaw;
    this.pitch = Math.min(Math.max(this.pitch + pitch, PITCH.least), PITCH.most);
  }

  zoom(factor: number): void {
    if (this.isFirstPerson && factor > 1) {
      this.isFirstPerson = false;
      return;
    }
    this.distance = Math.min(Math.max(this.distance * factor, DISTANCE.least), DISTANCE.most);
  }

  /** Starts anew at a place. */
  reset(): void {
    this.isPlaced = false;
  }

  follow(pos: Vec, half: number, ground: Ground | null, elapsed: number): void {
    const eye = new three.Vector3(pos.x, pos.y + 0.72 * half, pos.z);
    if (!this.isPlaced) this.focus.copy(eye);
    this.isPlaced = true;
    // Softly up and down, so that steps do not shake; tightly sideways, so that keys are answered at once.
    const soft = 1 - Math.exp(-elapsed * 9);
    const tight = 1 - Math.exp(-elapsed * 30);
    this.focus.x += (eye.x - this.focus.x) * tight;
    this.focus.z += (eye.z - this.focus.z) * tight;
    this.focus.y += (eye.y - this.focus.y) * soft;
    const back = new three.Vector3(
      -Math.sin(this.yaw) * Math.cos(this.pitch),
      Math.sin(this.pitch),
      -Math.cos(this.yaw) * Math.cos(this.pitch),
    );
    if (this.isFirstPerson) {
      this.camera.position.copy(eye);
      this.camera.lookAt(eye.clone().sub(back));
      return;
    }
    const way = back.clone().multiplyScalar(this.distance);
    const free = ground?.free(this.focus, way, 0.25) ?? 1;
    const wanted = Math.max(this.distance * free, 0.4);
    // Inwards at once, or one looks through the wall; outwards slowly.
    this.shownDistance = wanted < this.shownDistance ? wanted : this.shownDistance
      + (wanted - this.shownDistance) * soft;
    this.camera.position.copy(this.focus).addScaledVector(back, this.shownDistance);
    this.camera.position.y = Math.max(this.camera.position.y, 0.25);
    this.camera.lookAt(this.focus);
  }
}
