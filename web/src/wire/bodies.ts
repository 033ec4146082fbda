// A state's bodies as columns of numbers, read without making an object for each: the fast twin of `readState`. A page
// that hears of a thousand people reads thirty thousand bodies a second.

import { Reader } from './codec.ts';
import { DATAGRAM_MAX } from './kind.ts';
import { HANDLE_MAX, LEVELS, STEPS_MAX, type Turn, UNTURNED, WIDTH, heading, isTurn, uprightTurn } from './pose.ts';
import { ANYWHERE, BODY_BITS_MIN, MOTION_WIDTHS, PLACE_WIDTHS, type StateHead, readHead } from './state.ts';

const BODIES_MAX = Math.ceil((8 * DATAGRAM_MAX) / BODY_BITS_MIN);
/** More than the longest body takes, in bytes. */
const PADDING = 32;
const placeWidths = Int32Array.from(PLACE_WIDTHS.flat());
const motionWidths = Int32Array.from(MOTION_WIDTHS.flat());

export class StateBodies {
  /** How many were read last. */
  count = 0;
  readonly handle = new Int32Array(BODIES_MAX);
  /** Three numbers for each: grid steps. */
  readonly place = new Int32Array(3 * BODIES_MAX);
  /** Three numbers for each: units per tick. */
  readonly motion = new Int32Array(3 * BODIES_MAX);
  readonly turn = new Float64Array(BODIES_MAX);
  readonly isElsewhere = new Uint8Array(BODIES_MAX);
  // With zeros behind: a body that is cut off is read into them before that is noticed.
  private readonly bytes = new Uint8Array(DATAGRAM_MAX + PADDING);
  private readonly view = new DataView(this.bytes.buffer);

  /** Reads a whole datagram; gives what precedes the bodies. A `DecodeError` is thrown for bytes that are no state. */
  read(datagram: Uint8Array): StateHead {
    const reader = new Reader(datagram, DATAGRAM_MAX);
    const head = readHead(reader);
    const rest = reader.rest();
    this.bytes.set(rest);
    this.bytes.fill(0, rest.length, rest.length + PADDING);
    if (!this.readBodies(8 * rest.length, head.anchor)) throw reader.refuse('bodies');
    return head;
  }

  private readBodies(end: number, anchor: readonly [number, number, number]): boolean {
    const { view, handle, place, motion, turn, isElsewhere } = this;
    let at = 0;
    let last = -1;
    let count = 0;
    while (end - at >= BODY_BITS_MIN) {
      // Handles mostly follow each other: a single bit.
      let window = view.getUint32(at >> 3, true) >>> (at & 7);
      if ((window & 1) === 1) {
        last += 1;
        at += 1;
      } else {
        // The lowest bit that is set ends the zeros; a handle is within 4,096 of the last.
        const more = window === 0 ? 32 : 31 - Math.clz32(window & -window);
        if (more > 12) return false;
        at += more + 1;
        window = view.getUint32(at >> 3, true) >>> (at & 7);
        last += (1 << more) | (window & ((1 << more) - 1));
        at += more;
      }
      if (last > HANDLE_MAX) return false;
      handle[count] = last;
      const form = (view.getUint32(at >> 3, true) >>> (at & 7)) & 3;
      at += 2;
      for (let axis = 0; axis < 3; axis++) {
        const unused = 32 - placeWidths[3 * form + axis]!;
        const steps = ((view.getUint32(at >> 3, true) >>> (at & 7)) << unused) >> unused;
        at += 32 - unused;
        const near = anchor[axis]!;
        const whole = form === ANYWHERE ? steps : near + (((steps - near) << unused) >> unused);
        if (whole > STEPS_MAX || whole < -STEPS_MAX) return false;
        place[3 * count + axis] = whole;
      }
      const flags = view.getUint32(at >> 3, true) >>> (at & 7);
      at += 5;
      isElsewhere[count] = flags & 1;
      const size = (flags >> 1) & 3;
      if (size === 0) motion[3 * count] = motion[3 * count + 1] = motion[3 * count + 2] = 0;
      else {
        for (let axis = 0; axis < 3; axis++) {
          const width = motionWidths[3 * size + axis]!;
          const unused = 32 - width;
          motion[3 * count + axis] = width === 0 ? 0
            : ((view.getUint32(at >> 3, true) >>> (at & 7)) << unused) >> unused;
          at += width;
        }
      }
      const turnForm = (flags >> 3) & 3;
      if (turnForm === 1) {
        turn[count] = heading((view.getUint32(at >> 3, true) >>> (at & 7)) & 255);
        at += 8;
      } else if (turnForm === 0) turn[count] = UNTURNED;
      else {
        const turned = this.longTurn(turnForm, at);
        if (!isTurn(turned)) return false;
        turn[count] = turned;
        at += turnForm === 2 ? 16 : WIDTH;
      }
      if (at > end) return false;
      count += 1;
    }
    this.count = count;
    const left = end - at;
    return left < 8 && ((view.getUint32(at >> 3, true) >>> (at & 7)) & ((1 << left) - 1)) === 0;
  }

  private longTurn(form: number, at: number): Turn {
    const { view } = this;
    const bits = (at: number, width: number) => (view.getUint32(at >> 3, true) >>> (at & 7)) & ((1 << width) - 1);
    if (form === 2) return uprightTurn(bits(at, 15) - LEVELS, bits(at + 15, 1) === 1);
    return bits(at, 24) + bits(at + 24, WIDTH - 24) * 0x1000000;
  }
}
