// The server's clock, seen from here: from exchanged messages, never running backwards. The twin of `motion::clock`.

const SAMPLES_MAX = 8;
const SLEW_DIVISOR = 20;
const STEP_US = 500_000;

/** One exchange of messages, in microseconds. */
export interface Exchange {
  readonly asked: number;
  readonly received: number;
  readonly replied: number;
  readonly returned: number;
}

export class Clock {
  private samples: { offset: number; roundTrip: number }[] = [];
  private last: { local: number; mapped: number } | null = null;

  /** Takes in an exchange. One that took less than no time is ignored: a clock was set in between. */
  handle({ asked, received, replied, returned }: Exchange): boolean {
    const roundTrip = returned - asked - (replied - received);
    if (roundTrip < 0 || returned < asked || replied < received) return false;
    const offset = Math.trunc((received - asked) / 2) + Math.trunc((replied - returned) / 2);
    if (this.samples.length === SAMPLES_MAX) this.samples.shift();
    this.samples.push({ offset, roundTrip });
    return true;
  }

  /** The server's time at a local moment. It never goes back while the local clock does not. */
  ownerTime(local: number): number {
    const wanted = local + (this.best?.offset ?? 0);
    let mapped = wanted;
    if (this.last !== null && local >= this.last.local) {
      const elapsed = local - this.last.local;
      const straight = this.last.mapped + elapsed;
      const error = wanted - straight;
      if (error > STEP_US) mapped = wanted;
      else if (error < -STEP_US) mapped = Math.max(this.last.mapped, wanted);
      else {
        const slew = Math.trunc(elapsed / SLEW_DIVISOR);
        mapped = straight + Math.min(Math.max(error, -slew), slew);
      }
    }
    this.last = { local, mapped };
    return mapped;
  }

  /** The server's time is off by at most this many microseconds: half the shortest round trip. */
  get errorBoundUs(): number | null {
    const best = this.best;
    return best === undefined ? null : Math.trunc(best.roundTrip / 2) + 1;
  }

  /** The newest round trip, in microseconds. */
  get roundTripUs(): number | null {
    return this.samples[this.samples.length - 1]?.roundTrip ?? null;
  }

  /** The shortest round trip of those that are kept, in microseconds: what the network takes, without what a busy page
   * adds. */
  get leastRoundTripUs(): number | null {
    return this.best?.roundTrip ?? null;
  }

  private get best(): { offset: number; roundTrip: number } | undefined {
    let best = this.samples[0];
    for (const sample of this.samples) if (sample.roundTrip < best!.roundTrip) best = sample;
    return best;
  }
}
