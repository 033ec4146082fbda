// The first time of contact by steps so short that no contact fits between them: the twin of `space::impact::Advance`.

export interface Probe {
  readonly gap: number;
  readonly rate: number;
}

const STEPS_MAX = 256;

/** The first time at which the gap between two convex things is closed while closing further; null if none is known. */
export function advance(
  from: number,
  to: number,
  acceleration: number,
  tolerance: number,
  probe: (t: number) => Probe,
): number | null {
  let t = from;
  for (let step = 0; step < STEPS_MAX; step++) {
    const now = probe(t);
    if (now.gap <= tolerance && now.rate < 0) return polish(t, now, to, probe);
    const next = t + safeStep(Math.max(now.gap, tolerance), now.rate, acceleration);
    if (!(next > t)) return null;
    if (next > to) {
      const end = probe(to);
      return end.gap <= tolerance && end.rate < 0 ? to : null;
    }
    t = next;
  }
  return null;
}

function polish(t: number, now: Probe, to: number, probe: (t: number) => Probe): number {
  if (now.gap <= 0) return t;
  let before = t;
  let after = Math.min(t + (2 * now.gap) / -now.rate, to);
  if (probe(after).gap > 0) return t;
  for (let round = 0; round < 60; round++) {
    const middle = 0.5 * (before + after);
    if (middle <= before || middle >= after) break;
    if (probe(middle).gap > 0) before = middle;
    else after = middle;
  }
  return before;
}

/** The longest time in which a gap that changes at this rate cannot close, whatever the acceleration does. */
function safeStep(gap: number, rate: number, acceleration: number): number {
  const root = Math.sqrt(rate * rate + 2 * acceleration * gap);
  return rate < 0 ? (2 * gap) / (root - rate) : (rate + root) / acceleration;
}
