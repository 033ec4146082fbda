// The time line: live, or the past from the journal, with pause, step, scrub and speed.

import type { Frame } from '../client/watch.ts';
import { element } from '../ui/element.ts';
import type { Watched } from '../wire/operator.ts';

/** Ticks that are asked for at once. */
const STRETCH = 300;
/** Frames of the past that are kept: some minutes. */
const FRAMES_MAX = 3_000;
const SPEEDS = [0.25, 1, 4, 16] as const;

export class Timeline {
  readonly root: HTMLElement;
  isLive = true;
  private isPaused = false;
  private speed = 1;
  private tick = 0;
  private last = 0;
  private live: Frame | null = null;
  private readonly past = new Map<number, Frame>();
  private asked: { from: number; to: number } | null = null;
  private watched: Watched | null = null;
  private reach: [number, number] = [0, 0];
  private readonly range = element('input', { type: 'range', min: '0', max: '0', value: '0', 'aria-label': 'Time' });
  private readonly output = element('output');
  private readonly pause = element('button', { type: 'button', 'data-do': 'pause' }, 'Pause');
  private readonly liveButton =
    element('button', { type: 'button', 'data-do': 'live', 'aria-pressed': 'true' }, 'Live');
  private readonly speedButton = element('button', { type: 'button', 'data-do': 'speed' }, '1×');

  constructor(private readonly ask: (from: number, to: number, every: number) => void) {
    const back = element('button', { type: 'button', 'data-do': 'back', title: 'One tick back' }, '◀');
    const on = element('button', { type: 'button', 'data-do': 'on', title: 'One tick on' }, '▶');
    back.addEventListener('click', () => this.step(-1));
    on.addEventListener('click', () => this.step(1));
    this.pause.addEventListener('click', () => this.setPaused(!this.isPaused));
    this.liveButton.addEventListener('click', () => this.goLive());
    this.speedButton.addEventListener('click', () => {
      this.speed = SPEEDS[(SPEEDS.indexOf(this.speed as 1) + 1) % SPEEDS.length]!;
      this.speedButton.textContent = `${this.speed}×`;
    });
    this.range.addEventListener('input', () => this.seek(Number(this.range.value)));
    this.root = element('footer', { class: 'timeline panel', 'aria-label': 'Time' }, this.liveButton, this.pause, back,
      on, this.speedButton, this.range, this.output);
  }

  open(watched: Watched): void {
    this.watched = watched;
    this.reach = watched.past === null ? [0, 0] : [...watched.past];
    const hasPast = watched.past !== null;
    for (const control of this.root.querySelectorAll('input, button')) (control as HTMLButtonElement).disabled =
      !hasPast;
    if (!hasPast) this.output.textContent = 'nothing is kept';
  }

  take(frame: Frame, isLive: boolean): void {
    if (isLive) {
      this.live = frame;
      this.reach[1] = Math.max(this.reach[1], frame.tick);
      if (this.reach[0] === 0) this.reach[0] = frame.tick;
      return;
    }
    this.past.set(frame.tick, frame);
    if (this.past.size > FRAMES_MAX) this.past.delete(this.past.keys().next().value!);
  }

  played(_to: number): void {
    this.asked = null;
  }

  /** Goes to a tick of the past. */
  seek(tick: number): void {
    this.isLive = false;
    this.liveButton.setAttribute('aria-pressed', 'false');
    this.tick = Math.min(Math.max(tick, this.reach[0]), this.reach[1]);
    this.fetch();
  }

  step(ticks: number): void {
    this.setPaused(true);
    this.seek(Math.round((this.isLive ? (this.live?.tick ?? 0) : this.tick) + ticks));
  }

  goLive(): void {
    this.isLive = true;
    this.setPaused(false);
    this.liveButton.setAttribute('aria-pressed', 'true');
  }

  setPaused(isPaused: boolean): void {
    this.isPaused = isPaused;
    this.pause.textContent = isPaused ? 'Play' : 'Pause';
    if (isPaused && this.isLive && this.live !== null) this.seek(this.live.tick);
  }

  /** What is to be shown now; of the past the newest tick that is there and not after the one that is meant. */
  at(now: number): Frame | null {
    const elapsed = Math.min(now - this.last, 250);
    this.last = now;
    [this.range.min, this.range.max] = [String(this.reach[0]), String(this.reach[1])];
    const tickMs = (this.watched?.tickUs ?? 33_333) / 1_000;
    if (this.isLive) {
      this.range.value = this.range.max;
      this.output.textContent = this.live === null ? '' : `tick ${this.live.tick}`;
      return this.live;
    }
    if (!this.isPaused) this.tick = Math.min(this.tick + (elapsed / tickMs) * this.speed, this.reach[1]);
    this.range.value = String(Math.floor(this.tick));
    this.fetch();
    const behind = ((this.reach[1] - this.tick) * tickMs) / 1_000;
    this.output.textContent = `tick ${Math.floor(this.tick)}, ${behind.toFixed(1)} s ago`;
    for (let tick = Math.floor(this.tick); tick > this.tick - 30; tick--) {
      const frame = this.past.get(tick);
      if (frame !== undefined) return frame;
    }
    return this.live;
  }

  /** Asks for what is ahead, before it is needed. */
  private fetch(): void {
    const from = Math.floor(this.tick);
    const isHere = this.past.has(from)
      && (this.past.has(Math.min(from + STRETCH / 3, this.reach[1] - 60)) || this.isPaused);
    const isAsked = this.asked !== null && from >= this.asked.from && from <= this.asked.to;
    if (isHere || isAsked) return;
    this.asked = { from, to: from + STRETCH };
    this.ask(from, from + STRETCH, 1);
    const asked = this.asked;
    // A stretch that ends before its time, at the newest tick, is asked for again.
    setTimeout(() => this.asked === asked && (this.asked = null), 2_000);
  }
}
