// What the columns are worth: the same datagrams and the same frames, once with an object for each user and thing,
// once in columns, turn by turn in one process, by the time that its processor took.

import { SlowOther } from '../test/slow_other.ts';
import { Crowd } from '../src/bench/crowd.ts';
import { Others } from '../src/client/others.ts';
import { metres } from '../src/client/walk.ts';
import { Scene } from '../src/motion/scene.ts';
import { StateBodies } from '../src/wire/bodies.ts';
import { STEPS_PER_METRE } from '../src/wire/pose.ts';
import { MOTION_UNIT, readState } from '../src/wire/state.ts';

const TICK_US = 33_333;
const FRAME_US = 16_667;
const UNIT = ((MOTION_UNIT / STEPS_PER_METRE) * 1e6) / TICK_US;

export interface Compared {
  readonly avatars: number;
  readonly frames: number;
  /** Milliseconds of the processor per frame: decode and predict, without the scene. */
  readonly objects_cpu_ms: number;
  readonly columns_cpu_ms: number;
  readonly ratio: number;
}

/** Shows a crowd both ways; a page hears of 4,000 at most. */
export function compare(avatars: number, frames: number): Compared {
  const crowd = new Crowd(avatars);
  const scene = new Scene(crowd.walls);
  const entered = crowd.entered(0);
  const columns = new Others(TICK_US);
  columns.scene = scene;
  const objects = new Map<number, SlowOther>();
  for (const one of entered) {
    columns.enter(one, 1, TICK_US);
    const slow = new SlowOther(0.3, TICK_US);
    slow.hear(1, TICK_US, metres(one.place), { x: 0, y: 0, z: 0 }, one.turn, true, TICK_US, scene);
    objects.set(one.handle, slow);
  }
  const bodies = new StateBodies();
  const spent = { objects: 0, columns: 0 };
  let [tick, far] = [1, 0];
  for (let frame = 0; frame < frames + 30; frame++) {
    const now = 2 * TICK_US + frame * FRAME_US;
    let datagrams: Uint8Array[] = [];
    if (Math.floor(now / TICK_US) > tick + 1) {
      tick += 1;
      crowd.step();
      datagrams = crowd.datagrams(0, tick);
    }
    const shown: { x: number }[] = [];
    const slowly = () => {
      for (const datagram of datagrams) {
        for (const { handle, place, motion, turn, isElsewhere } of readState(datagram).bodies) {
          const vel = { x: motion[0] * UNIT, y: motion[1] * UNIT, z: motion[2] * UNIT };
          objects.get(handle)!.hear(tick, tick * TICK_US, metres(place), vel, turn, isElsewhere, now, scene);
        }
      }
      for (const slow of objects.values()) shown.push(slow.show(now, scene)!.pos);
    };
    const quickly = () => {
      for (const datagram of datagrams) {
        bodies.read(datagram);
        columns.hear(bodies, tick, tick * TICK_US, now);
      }
      columns.show(now);
    };
    // The order alternates, so that neither always finds the other's data in the caches.
    const turns = [['objects', slowly], ['columns', quickly]] as const;
    for (const [name, run] of frame % 2 === 0 ? turns : [turns[1], turns[0]]) {
      const before = process.cpuUsage();
      run();
      const { user, system } = process.cpuUsage(before);
      // The first frames are those in which the code is still compiled.
      if (frame >= 30) spent[name] += (user + system) / 1_000;
    }
    let index = 0;
    for (const other of columns.all.values()) far = Math.max(far, Math.abs(other.x - shown[index++]!.x));
  }
  if (far > 0) throw new Error(`the two ways differ by ${far} m`);
  const round = (value: number) => Number(value.toFixed(3));
  return {
    avatars,
    frames,
    objects_cpu_ms: round(spent.objects / frames),
    columns_cpu_ms: round(spent.columns / frames),
    ratio: round(spent.objects / spent.columns),
  };
}
