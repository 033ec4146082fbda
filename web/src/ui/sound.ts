// A short dull sound where something is touched. Made in code, and silent until one has pressed a key.

export class Sound {
  isMuted: boolean;
  private context: AudioContext | null = null;
  private last = 0;

  constructor(isMuted: boolean) {
    this.isMuted = isMuted;
  }

  /** A thud; stronger ones are a little louder and deeper. */
  thud(strength: number): void {
    if (this.isMuted || !navigator.userActivation?.hasBeenActive) return;
    this.context ??= new AudioContext();
    const { context } = this;
    const now = context.currentTime;
    if (now - this.last < 0.12) return;
    this.last = now;
    const tone = context.createOscillator();
    const gain = context.createGain();
    tone.frequency.setValueAtTime(120 - 40 * strength, now);
    tone.frequency.exponentialRampToValueAtTime(46, now + 0.1);
    gain.gain.setValueAtTime(0.05 + 0.12 * strength, now);
    gain.gain.exponentialRampToValueAtTime(0.001, now + 0.16);
    tone.connect(gain).connect(context.destination);
    tone.start(now);
    tone.stop(now + 0.18);
  }
}
