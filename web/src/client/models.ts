// What the world's shapes beyond boxes, balls and capsules look like, as the server tells it at `/models`.

import type { Deformation } from '../motion/form.ts';

export interface Mesh {
  /** Three coordinates each, in metres. */
  readonly vertices: readonly number[];
  /** Three vertices each. */
  readonly triangles: readonly number[];
}

export interface Look {
  readonly object: number;
  readonly mesh: number;
  readonly deformation: Deformation | null;
}

export interface Models {
  /** Ticks per second, by which clocks count. */
  readonly tick_rate: number;
  readonly meshes: readonly Mesh[];
  readonly objects: readonly Look[];
}

export const NO_MODELS: Models = { tick_rate: 30, meshes: [], objects: [] };

export async function readModels(): Promise<Models> {
  const answer = await fetch('/models', { cache: 'no-cache' });
  return answer.ok ? ((await answer.json()) as Models) : NO_MODELS;
}
