// The own avatar: moved at once by its own inputs, and corrected by what the server confirms.

import { type Vec, ZERO, add, length, scale, sub } from '../motion/vector.ts';
import { VELOCITY_PARTS } from '../wire/state.ts';
import type { Step } from '../wire/to_server.ts';
import { type Ground, type Walker, standing } from './walk.ts';

/** Inputs kept at most: two seconds, at 30 a second. */
const INPUTS_MAX = 64;
/** A correction larger than this is shown at once, in metres. */
const SNAP_DISTANCE = 3;
/** The share of a correction that is left after a step. */
const CORRECTION_LEFT = 0.8;

export class Own {
  confirmed: Walker;
  predicted: Walker;
  /** How far the last word of the server was from what had been expected, in metres. */
  surprise = 0;
  /** The predicted walker, and what it has walked since by the intent of the moment: the next frame answers a key. */
  private ahead: Walker;
  /** From there to what is shown. */
  private correction: Vec = ZERO;
  private inputs: { number: number; step: Step }[] = [];

  /** Moves to a place; the shown avatar converges there without a jump. */
  constructor(pos: Vec, private acknowledged: number, private readonly seconds: number, shown = pos) {
    this.confirmed = standing(pos);
    this.predicted = this.confirmed;
    this.ahead = this.confirmed;
    this.correct(shown);
  }

  /** Applies an input, and remembers it until the server has answered it. */
  input(number: number, step: Step, ground: Ground): void {
    if (this.inputs.length === INPUTS_MAX) this.inputs.shift();
    this.inputs.push({ number, step });
    this.follow(ground.step(this.predicted, wish(step), step.isJump, this.seconds));
  }

  /** The server's word: where the avatar was with this input in force. */
  confirm(walker: Walker, acknowledged: number, ground: Ground): void {
    const ahead = ((acknowledged - this.acknowledged) << 16) >> 16;
    this.acknowledged = (this.acknowledged + ahead) >>> 0;
    while (this.inputs.length > 0 && ((this.inputs[0]!.number - this.acknowledged) | 0) <= 0) this.inputs.shift();
    this.confirmed = walker;
    let predicted = walker;
    for (const { step } of this.inputs) predicted = ground.step(predicted, wish(step), step.isJump, this.seconds);
    this.surprise = length(sub(this.predicted.pos, predicted.pos));
    const walked = sub(this.ahead.pos, this.predicted.pos);
    const { shown } = this;
    this.predicted = predicted;
    this.ahead = { ...predicted, pos: add(predicted.pos, walked) };
    this.correct(shown);
  }

  /** Lets time pass between inputs: walks on and jumps with what is wanted now, and takes back some of the
   * correction. */
  pass(step: Step, seconds: number, ground: Ground): void {
    this.ahead = ground.step(this.ahead, wish(step), step.isJump, seconds);
    this.correction = scale(this.correction, CORRECTION_LEFT ** (seconds / this.seconds));
  }

  /** The newest inputs, the newest first: those that the server may not have. */
  unanswered(most: number): Step[] {
    return this.inputs.slice(-most).reverse().map(({ step }) => step);
  }

  /** Inputs that the server has not answered. */
  get pending(): number {
    return this.inputs.length;
  }

  /** Where it is shown. */
  get shown(): Vec {
    return add(this.ahead.pos, this.correction);
  }

  private follow(predicted: Walker): void {
    const { shown } = this;
    this.predicted = predicted;
    this.ahead = predicted;
    this.correct(shown);
  }

  /** What is shown does not jump; what differs is taken back little by little. */
  private correct(shown: Vec): void {
    this.correction = sub(shown, this.ahead.pos);
    if (length(this.correction) > SNAP_DISTANCE) this.correction = ZERO;
  }
}

/** What a step wishes, in metres per second. */
export function wish({ velocity }: Step): Vec {
  return { x: velocity[0] / VELOCITY_PARTS, y: velocity[1] / VELOCITY_PARTS, z: velocity[2] / VELOCITY_PARTS };
}
