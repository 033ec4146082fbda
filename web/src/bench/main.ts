// Measures the page's own work per frame: decode, predict, scene update, without the GPU. `?avatars=1000&frames=300`.
// What comes in is what a server would send: state datagrams of all avatars at every tick, thirty times a second.

import { Others } from '../client/others.ts';
import { Scene } from '../motion/scene.ts';
import { Avatars } from '../view/avatars.ts';
import { People } from '../view/people.ts';
import { Stage } from '../view/stage.ts';
import { StateBodies } from '../wire/bodies.ts';
import { Crowd } from './crowd.ts';

const TICK_US = 33_333;
const FRAME_US = 16_667;

export interface Result {
  readonly avatars: number;
  readonly frames: number;
  /** Milliseconds per frame of the page's own work: the middle, the mean, and the worst of twenty. */
  readonly work_ms_median: number;
  readonly work_ms_mean: number;
  readonly work_ms_p95: number;
  readonly decode_ms_mean: number;
  readonly predict_ms_mean: number;
  readonly scene_ms_mean: number;
  readonly bytes_per_tick: number;
  /** Frames per second with whatever draws here. */
  readonly frames_per_second: number;
}

export async function measure(avatars: number, frames: number): Promise<Result> {
  const canvas = document.getElementById('view') as HTMLCanvasElement;
  const stage = new Stage(canvas, 'low');
  const drawn = new Avatars(false);
  stage.scene.add(drawn.root);
  stage.camera.position.set(0, 12, -30);
  stage.camera.lookAt(0, 0, 0);
  const crowd = new Crowd(avatars);
  const parts = crowd.parts.map(() => new Others(TICK_US));
  // Some walls, so that collisions with what stands are predicted, too.
  const scene = new Scene(crowd.walls);
  parts.forEach((others, index) => {
    others.scene = scene;
    for (const entered of crowd.entered(index)) others.enter(entered, 1, TICK_US);
  });
  const people = parts.map(() => new People(drawn));
  const bodies = new StateBodies();
  const [decode, predict, update, work]: number[][] = [[], [], [], []];
  // Made beforehand, so that what the making leaves behind is not cleared away while the page works.
  const told = Array.from({ length: Math.ceil(((frames + 30) * FRAME_US) / TICK_US) + 1 }, (_, index) => {
    crowd.step();
    return parts.map((_, part) => crowd.datagrams(part, index + 2));
  });
  let [bytes, ticks, drawMs] = [0, 0, 0];
  let tick = 1;
  for (let frame = 0; frame < frames + 30; frame++) {
    const now = 2 * TICK_US + frame * FRAME_US;
    let datagrams: Uint8Array[][] = [];
    if (Math.floor(now / TICK_US) > tick + 1) {
      tick += 1;
      datagrams = told[tick - 2]!;
      ticks += 1;
      bytes += datagrams.flat().reduce((sum, datagram) => sum + datagram.length, 0);
    }
    const begun = performance.now();
    datagrams.forEach((list, index) => {
      for (const datagram of list) {
        bodies.read(datagram);
        parts[index]!.hear(bodies, tick, tick * TICK_US, now);
      }
    });
    const decoded = performance.now();
    for (const others of parts) others.show(now, stage.camera.position);
    const predicted = performance.now();
    drawn.begin(now * 1e-6, FRAME_US * 1e-6);
    parts.forEach((others, index) => people[index]!.draw(others));
    drawn.finish();
    const ended = performance.now();
    // The first frames are those in which the browser still compiles.
    if (frame >= 30) {
      decode!.push(decoded - begun);
      predict!.push(predicted - decoded);
      update!.push(ended - predicted);
      work!.push(ended - begun);
    }
    if (frame >= 30 && frame % 30 === 0) {
      stage.draw(stage.camera.position);
      stage.renderer.getContext().finish();
      drawMs += performance.now() - ended;
      await new Promise((done) => setTimeout(done, 0));
    }
  }
  const mean = (list: number[]) => list.reduce((sum, value) => sum + value, 0) / list.length;
  const sorted = [...work!].sort((a, b) => a - b);
  const round = (value: number) => Number(value.toFixed(4));
  const drawnFrames = Math.max(1, Math.floor(frames / 30));
  return {
    avatars,
    frames,
    work_ms_median: round(sorted[Math.floor(sorted.length / 2)]!),
    work_ms_mean: round(mean(work!)),
    work_ms_p95: round(sorted[Math.floor(sorted.length * 0.95)]!),
    decode_ms_mean: round(mean(decode!)),
    predict_ms_mean: round(mean(predict!)),
    scene_ms_mean: round(mean(update!)),
    bytes_per_tick: Math.round(bytes / Math.max(ticks, 1)),
    frames_per_second: round(1_000 / (drawMs / drawnFrames + mean(work!))),
  };
}

Object.assign(window, { measure });
const asked = new URLSearchParams(location.search);
if (asked.has('avatars')) {
  void measure(Number(asked.get('avatars')), Number(asked.get('frames') ?? 300)).then((result) => {
    document.getElementById('ui')!.textContent = JSON.stringify(result);
  });
}
