// Whether pictures come too slowly for a machine: then less is drawn, for a world in which one cannot walk is worth
// less than one without shadows.

/** A picture that takes longer than this on the average is too slow, in seconds. */
const SLOW_S = 0.08;
/** How long pictures must be slow before less is drawn, in seconds. */
const PATIENCE_S = 2;
/** How much the newest picture counts in the running mean. */
const WEIGHT = 0.1;
/**
 * No picture counts for more than this, in the mean and where the mean is slow already, in seconds: a page that was
 * hidden or held up for a while did not draw slowly.
 */
const LONGEST_S = { inMean: 0.25, ofMany: 1 };

export class Pace {
  private mean = 0;
  private slowFor = 0;

  /** Notes the seconds that a picture took. Returns whether to draw less; after that it measures anew. */
  isTooSlow(seconds: number): boolean {
    this.mean += WEIGHT * (Math.min(seconds, LONGEST_S.inMean) - this.mean);
    this.slowFor = this.mean > SLOW_S ? this.slowFor + Math.min(seconds, LONGEST_S.ofMany) : 0;
    if (this.slowFor < PATIENCE_S) return false;
    this.slowFor = 0;
    return true;
  }
}
