// Numbers and texts as bytes, as `crates/wire/src/codec.rs` writes them.

/** Bytes that are no message. */
export class DecodeError extends Error {
  constructor(
    readonly kind: number,
    readonly field: string,
    what: string,
  ) {
    super(`message 0x${kind.toString(16).padStart(2, '0')}: \`${field}\` ${what}`);
  }
}

const utf8 = new TextEncoder();
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Writes a message. */
export class Writer {
  private bytes = new Uint8Array(64);
  private view = new DataView(this.bytes.buffer);
  private length = 0;

  constructor(kind: number) {
    this.u8(kind);
  }

  private room(count: number): number {
    const at = this.length;
    this.length += count;
    if (this.length > this.bytes.length) {
      const grown = new Uint8Array(Math.max(this.length, 2 * this.bytes.length));
      grown.set(this.bytes);
      this.bytes = grown;
      this.view = new DataView(grown.buffer);
    }
    return at;
  }

  u8(value: number): void {
    const at = this.room(1);
    this.view.setUint8(at, value);
  }

  u16(value: number): void {
    const at = this.room(2);
    this.view.setUint16(at, value & 0xffff, true);
  }

  u32(value: number): void {
    const at = this.room(4);
    this.view.setUint32(at, value >>> 0, true);
  }

  i64(value: number): void {
    const at = this.room(8);
    this.view.setBigInt64(at, BigInt(Math.round(value)), true);
  }

  f32(value: number): void {
    const at = this.room(4);
    this.view.setFloat32(at, value, true);
  }

  /** Seven bits to a byte, lowest first; the eighth says that more follow. */
  varint(value: number): void {
    while (value >= 0x80) {
      this.u8((value % 0x80) | 0x80);
      value = Math.floor(value / 0x80);
    }
    this.u8(value);
  }

  /** 0, -1, 1, -2, ... as 0, 1, 2, 3, ... */
  zigzag(value: number): void {
    this.varint(value < 0 ? -2 * value - 1 : 2 * value);
  }

  raw(bytes: Uint8Array): void {
    const at = this.room(bytes.length);
    this.bytes.set(bytes, at);
  }

  counted(bytes: Uint8Array): void {
    this.varint(bytes.length);
    this.raw(bytes);
  }

  /** A text, cut between characters where it is longer than `max` bytes. */
  text(text: string, max: number): void {
    let bytes = utf8.encode(text);
    while (bytes.length > max) {
      text = Array.from(text).slice(0, -1).join('');
      bytes = utf8.encode(text);
    }
    this.counted(bytes);
  }

  end(): Uint8Array<ArrayBuffer> {
    return this.bytes.slice(0, this.length);
  }
}

/** Reads a message. Any deviation from the format throws a `DecodeError`. */
export class Reader {
  readonly kind: number;
  private readonly view: DataView;
  private at = 1;

  constructor(readonly bytes: Uint8Array, max: number) {
    this.kind = bytes[0] ?? 0;
    if (bytes.length === 0) throw new DecodeError(0, 'kind', 'is missing');
    if (bytes.length > max) throw new DecodeError(this.kind, 'length',
      `is ${bytes.length}, at most ${max} are allowed`);
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get remaining(): number {
    return this.bytes.length - this.at;
  }

  refuse(field: string): DecodeError {
    return new DecodeError(this.kind, field, 'cannot be');
  }

  private take(count: number, field: string): number {
    if (this.remaining < count) throw new DecodeError(this.kind, field, 'is cut off');
    const at = this.at;
    this.at += count;
    return at;
  }

  u8(field: string): number {
    return this.view.getUint8(this.take(1, field));
  }

  u16(field: string): number {
    return this.view.getUint16(this.take(2, field), true);
  }

  u32(field: string): number {
    return this.view.getUint32(this.take(4, field), true);
  }

  i64(field: string): number {
    return Number(this.view.getBigInt64(this.take(8, field), true));
  }

  f32(low: number, high: number, field: string): number {
    const value = this.view.getFloat32(this.take(4, field), true);
    if (!(value >= low && value <= high) || Object.is(value, -0)) throw this.refuse(field);
    return value;
  }

  bool(field: string): boolean {
    const value = this.u8(field);
    if (value > 1) throw this.refuse(field);
    return value === 1;
  }

  /** A number of at most `max`, in as few bytes as it needs. Beyond 2^53 a page has no numbers, and no use for them. */
  varint(max: number, field: string): number {
    let value = 0;
    let scale = 1;
    for (let count = 0; count < 8; count++) {
      const byte = this.u8(field);
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if ((byte === 0 && count > 0) || value > max || !Number.isSafeInteger(value)) throw this.refuse(field);
        return value;
      }
      scale *= 0x80;
    }
    throw this.refuse(field);
  }

  zigzag(max: number, field: string): number {
    const value = this.varint(2 * max + 1, field);
    const signed = value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    if (Math.abs(signed) > max) throw this.refuse(field);
    return signed;
  }

  /** How many things follow: no more than fit in what is left, at `least` bytes each. */
  count(max: number, least: number, field: string): number {
    const count = this.varint(max, field);
    if (count * least > this.remaining) throw new DecodeError(this.kind, field, 'is cut off');
    return count;
  }

  raw(count: number, field: string): Uint8Array {
    const at = this.take(count, field);
    return this.bytes.subarray(at, at + count);
  }

  counted(max: number, field: string): Uint8Array {
    return this.raw(this.count(max, 1, field), field);
  }

  text(max: number, field: string): string {
    try {
      return strict.decode(this.counted(max, field));
    } catch (error) {
      throw error instanceof DecodeError ? error : this.refuse(field);
    }
  }

  rest(): Uint8Array {
    const rest = this.bytes.subarray(this.at);
    this.at = this.bytes.length;
    return rest;
  }

  end(): void {
    if (this.remaining > 0) throw new DecodeError(this.kind, 'end', `comes ${this.remaining} bytes too late`);
  }
}
