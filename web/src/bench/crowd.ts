// A crowd as a server would tell of it: walkers who turn slowly, thirty steps a second, in datagrams.

import type { SceneObject } from '../motion/scene.ts';
import { nearestHeading } from '../wire/pose.ts';
import { writeState } from '../wire/state.ts';
import type { Entered } from '../wire/to_client.ts';

/** A client hears at most this many; the others go to further clients. */
const HEARD_MAX = 4_000;
/** Walkers of one datagram: it stays below 1,100 bytes. */
const PER_DATAGRAM = 64;
const SPEED = 1.4;

interface Walker {
  x: number;
  z: number;
  heading: number;
  turn: number;
}

export class Crowd {
  readonly parts: Walker[][] = [];
  readonly walls: SceneObject[] = [];
  private readonly side: number;
  private seed = 12_345;

  constructor(count: number) {
    this.side = Math.sqrt(5 * count);
    for (let index = 0; index < count; index++) {
      const part = Math.floor(index / HEARD_MAX);
      (this.parts[part] ??= []).push({
        x: (this.random() - 0.5) * this.side,
        z: (this.random() - 0.5) * this.side,
        heading: this.random() * 6.283,
        turn: (this.random() - 0.5) * 0.8,
      });
    }
    for (let wall = 0; wall < count / 40; wall++) {
      const pos = { x: (this.random() - 0.5) * this.side, y: 1, z: (this.random() - 0.5) * this.side };
      this.walls.push({ form: 'cuboid', pos, half: { x: 0.3 + this.random(), y: 1, z: 0.3 } });
    }
  }

  entered(part: number): Entered[] {
    return this.parts[part]!.map((walker, handle) => ({
      handle,
      object: 1 + part * HEARD_MAX + handle,
      kind: 'Avatar',
      name: '',
      shape: { form: 'capsule', halfHeight: 0.6, radius: 0.3 },
      place: place(walker),
      turn: 123_144_765_423_615,
      motion: [0, 0, 0],
    }));
  }

  step(): void {
    for (const walker of this.parts.flat()) {
      walker.heading += walker.turn / 30;
      walker.x += (Math.sin(walker.heading) * SPEED) / 30;
      walker.z += (Math.cos(walker.heading) * SPEED) / 30;
      const half = this.side / 2;
      if (Math.abs(walker.x) > half || Math.abs(walker.z) > half) walker.heading = Math.atan2(-walker.x, -walker.z);
    }
  }

  datagrams(part: number, tick: number): Uint8Array[] {
    const walkers = this.parts[part]!;
    const datagrams: Uint8Array[] = [];
    for (let first = 0; first < walkers.length; first += PER_DATAGRAM) {
      const bodies = walkers.slice(first, first + PER_DATAGRAM).map((walker, index) => {
        const units = (way: number) => Math.round(((way * SPEED) / 30) * 256);
        return {
          handle: first + index,
          place: place(walker),
          heading: nearestHeading(walker.heading),
          motion: [units(Math.sin(walker.heading)), 0, units(Math.cos(walker.heading))] as const,
        };
      });
      datagrams.push(writeState(tick, [0, 922, 0], bodies));
    }
    return datagrams;
  }

  private random(): number {
    this.seed = (Math.imul(this.seed, 1_664_525) + 1_013_904_223) >>> 0;
    return this.seed / 2 ** 32;
  }
}

function place(walker: Walker): [number, number, number] {
  return [Math.round(walker.x * 1_024), 922, Math.round(walker.z * 1_024)];
}
