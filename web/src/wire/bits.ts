// Numbers of any width, packed without gaps: the lowest bit first, bytes filled from their lowest bit.

export class BitWriter {
  private readonly bytes: number[] = [];
  private pending = 0;
  private count = 0;

  /** The lowest `width` bits of `value`, 53 at most. */
  push(value: number, width: number): void {
    while (width > 0) {
      const some = Math.min(width, 8 - this.count);
      const part = ((value % 2 ** some) + 2 ** some) % 2 ** some;
      this.pending |= part << this.count;
      value = Math.floor(value / 2 ** some);
      width -= some;
      this.count += some;
      if (this.count === 8) {
        this.bytes.push(this.pending);
        this.pending = 0;
        this.count = 0;
      }
    }
  }

  /** Elias's gamma code. */
  pushGamma(value: number): void {
    const more = 31 - Math.clz32(value);
    this.push(0, more);
    this.push(1, 1);
    this.push(value, more);
  }

  get bits(): number {
    return 8 * this.bytes.length + this.count;
  }

  end(): Uint8Array {
    return Uint8Array.from(this.count > 0 ? [...this.bytes, this.pending] : this.bytes);
  }
}

/** Takes bits from bytes. Reading beyond the end gives zeros and sets `isShort`. */
export class BitReader {
  isShort = false;
  private at = 0;

  constructor(private readonly bytes: Uint8Array) {}

  get remaining(): number {
    return 8 * this.bytes.length - this.at;
  }

  /** The next `width` bits, 25 at most: they fit in four bytes wherever they begin. */
  take(width: number): number {
    if (width > this.remaining) {
      this.isShort = true;
      return 0;
    }
    const first = this.at >> 3;
    const bytes = this.bytes;
    const window =
      bytes[first]! | ((bytes[first + 1] ?? 0) << 8) | ((bytes[first + 2] ?? 0) << 16) | (
        (bytes[first + 3] ?? 0) << 24);
    const shift = this.at & 7;
    this.at += width;
    return (window >>> shift) & ((1 << width) - 1);
  }

  /** The next `width` bits as a number that may be negative. */
  takeSigned(width: number): number {
    if (width === 0) return 0;
    return (this.take(width) << (32 - width)) >> (32 - width);
  }

  /** The next 47 bits. */
  takeWide(width: number): number {
    const low = this.take(24);
    return low + this.take(width - 24) * 0x1000000;
  }

  takeGamma(): number {
    let more = 0;
    while (this.take(1) === 0) {
      more += 1;
      if (this.isShort || more > 24) {
        this.isShort = true;
        return 0;
      }
    }
    return (1 << more) | this.take(more);
  }

  /** Whether all that is left is the zeros that fill the last byte. */
  isAtEnd(): boolean {
    const left = this.remaining;
    return left < 8 && this.take(left) === 0;
  }
}
