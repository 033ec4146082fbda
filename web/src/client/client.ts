// A client as a state machine: bytes and times go in, bytes come out. The twin of `crates/client/src/mod.rs`.

import { Clock } from '../motion/clock.ts';
import { Scene } from '../motion/scene.ts';
import { StateBodies } from '../wire/bodies.ts';
import { DecodeError } from '../wire/codec.ts';
import { VERSION, kind } from '../wire/kind.ts';
import { type StateHead, VELOCITY_PARTS } from '../wire/state.ts';
import { type Pong, type Refused, type Roster, type Solid, type ToClient, type Welcome,
  decode } from '../wire/to_client.ts';
import * as toServer from '../wire/to_server.ts';
import { STILL, type Step } from '../wire/to_server.ts';
import { type Eye, Others, sceneObject } from './others.ts';
import { Own } from './own.ts';
import { Ground, metres } from './walk.ts';

/** The intervals of the first pings and of later ones, in microseconds. */
const PING_US = [200_000, 1_000_000] as const;
const QUICK_PINGS = 8;
/** Inputs that are repeated in each datagram. */
const REPEATS = 4;
/** Things of a scene that a client keeps. */
const SOLIDS_MAX = 65_536;
/** An avatar that is sent to another server is shown to walk on for this long, in microseconds, as others are
 * predicted. */
const CROSSING_US = 1_000_000;
/** Before the server's tick is known, in microseconds. */
const FRAME_US = 33_333;

export interface Said {
  readonly speaker: number | null;
  readonly name: string;
  readonly text: string;
}

/** What a client tells the page. */
export interface ClientEvents {
  send(message: Uint8Array<ArrayBuffer>, isDatagram: boolean): void;
  joined(welcome: Welcome): void;
  ended(refused: Refused): void;
  sceneChanged(): void;
  said(said: Said): void;
  grabbed(object: number, isHeld: boolean): void;
  /** Another server of this world has the avatar. */
  redirected(address: string): void;
}

export interface ClientCounts {
  bad: number;
  states: number;
  bodies: number;
  bytesIn: number;
  bytesOut: number;
  contradictions: number;
  resumed: number;
}

export type Phase = 'apart' | 'greeting' | 'joined' | 'ended';

export class Client {
  phase: Phase = 'apart';
  welcome: Welcome | null = null;
  own: Own | null = null;
  others = new Others(FRAME_US);
  ground: Ground | null = null;
  solids: Solid[] = [];
  isSceneWhole = false;
  newestTick = 0;
  /** What is held, if anything is. */
  held: number | null = null;
  resumeKey: Uint8Array | null = null;
  /** The servers of this world, as far as they were told. */
  servers: readonly string[] = [];
  intent: Step = STILL;
  readonly counts: ClientCounts =
    { bad: 0, states: 0, bodies: 0, bytesIn: 0, bytesOut: 0, contradictions: 0, resumed: 0 };
  clock = new Clock();
  /** When the last message came, by the local clock. */
  heardAt = 0;
  private readonly bodies = new StateBodies();
  /** By handle, when a thing that changes its form was told of and what its clock showed. */
  private readonly forms = new Map<number, { readonly tick: number; readonly clock: number }>();
  /** Since when it is on its way to another server, and how it went when it was sent there. */
  private crossing: { readonly since: number; readonly step: Step } | null = null;
  private tickBase = { tick: 0, at: 0 };
  private heard = 0;
  private number = 0;
  private pings = 0;
  private hasPong = false;
  private greeted = 0;
  private nextPing = 0;
  private nextWake = 0;

  constructor(private readonly events: ClientEvents) {}

  get tickUs(): number {
    return this.welcome?.tickUs ?? FRAME_US;
  }

  /** A link is open: says hello. */
  open(now: number, nickname: string, avatar: number, token: Uint8Array): void {
    this.phase = 'greeting';
    this.greeted = now;
    this.heardAt = now;
    this.tell(toServer.hello({ version: VERSION, nickname, avatar, token, resume: this.resumeKey }));
  }

  /** The link is gone. */
  lose(): void {
    this.crossing = null;
    if (this.phase !== 'ended') this.phase = 'apart';
  }

  /** Sends a chat line; false while there is no session. */
  say(text: string): boolean {
    if (this.phase !== 'joined') return false;
    this.tell(toServer.say(text));
    return true;
  }

  grab(object: number): void {
    this.tell(toServer.grab(object));
  }

  release(): void {
    this.tell(toServer.release());
    this.held = null;
  }

  leave(): void {
    this.tell(toServer.leave());
    this.resumeKey = null;
  }

  received(now: number, bytes: Uint8Array): void {
    this.counts.bytesIn += bytes.length;
    this.heardAt = now;
    try {
      if (bytes[0] === kind.state) this.hear(now, this.bodies.read(bytes));
      else this.take(now, decode(bytes));
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      this.counts.bad += 1;
    }
  }

  private take(now: number, message: ToClient): void {
    switch (message.type) {
      case 'Welcome':
        return this.join(now, message);
      case 'Refused':
      case 'Closed':
        this.phase = 'ended';
        return this.events.ended(message);
      case 'Scene':
        return this.stand(message.solids, message.isLast);
      case 'Roster':
        return this.enroll(message);
      case 'Said':
        return this.events.said(message);
      case 'Grabbed':
        this.held = message.isHeld ? message.object : this.held === message.object ? null : this.held;
        return this.events.grabbed(message.object, message.isHeld);
      case 'Redirect':
        this.crossing = this.phase === 'joined' ? { since: now, step: { ...this.intent, isJump: false } }
          : this.crossing;
        this.phase = 'apart';
        return this.events.redirected(message.address);
      case 'Servers':
        this.servers = message.addresses;
        return;
      case 'Pong':
        return this.tellTime(now, message);
      case 'Forms': {
        const tick = this.wholeTick(message.tick);
        for (const { handle, clock } of message.forms) this.forms.set(handle, { tick, clock });
        return;
      }
    }
  }

  /** Sends an input whenever a tick is due. */
  wake(now: number): void {
    if (this.phase !== 'joined' || now < this.nextWake) return;
    const next = this.nextWake + this.tickUs;
    this.nextWake = next > now ? next : now + this.tickUs;
    this.moveOn(now);
    if (now >= this.nextPing) {
      this.pings += 1;
      this.nextPing = now + PING_US[this.pings > QUICK_PINGS ? 1 : 0];
      this.tell(toServer.ping(now));
    }
  }

  /** When `wake` wants to be called, by the local clock. */
  get wakeAt(): number {
    return this.nextWake;
  }

  /** Computes where all are shown. `elapsed` seconds have passed since the last time. */
  show(now: number, elapsed: number, eye: Eye | null = null): void {
    this.others.show(this.clock.ownerTime(now), eye);
    if (this.own !== null && this.ground !== null) this.own.pass(this.intentAt(now), Math.min(elapsed, 0.1),
      this.ground);
  }

  /** What the clock of a thing that changes its form shows at a moment, in ticks; none if it has none. */
  clockOf(handle: number, now: number): number | null {
    const told = this.forms.get(handle);
    if (told === undefined) return null;
    const tick = this.tickBase.tick + (this.clock.ownerTime(now) - this.tickBase.at) / this.tickUs;
    return Math.max(told.clock, told.clock + tick - told.tick);
  }

  /**
   * What moves the own avatar. A client without a server stands, as its steps are not sent; but where it was sent on,
   * the other server lets it go on as it went, until it comes.
   */
  private intentAt(now: number): Step {
    if (this.phase === 'joined') return this.intent;
    return this.crossing !== null && now - this.crossing.since < CROSSING_US ? this.crossing.step : STILL;
  }

  private tell(message: Uint8Array<ArrayBuffer>): void {
    this.counts.bytesOut += message.length;
    this.events.send(message, message[0] === kind.moves || message[0] === kind.ping);
  }

  private join(now: number, welcome: Welcome): void {
    if (this.phase !== 'greeting') {
      this.counts.contradictions += 1;
      return;
    }
    const at = welcome.timeUs;
    this.clock = new Clock();
    this.clock.handle({ asked: this.greeted, received: at, replied: at, returned: now });
    this.tickBase = { tick: welcome.tick, at };
    this.newestTick = welcome.tick;
    this.ground = new Ground(welcome.walking, welcome.bounds, welcome.shape);
    this.solids = [];
    this.isSceneWhole = false;
    if (((welcome.newest - this.number) | 0) > 0) this.number = welcome.newest;
    const shown = welcome.isResumed ? this.own?.shown : undefined;
    this.own = new Own(metres(welcome.place), welcome.newest, welcome.tickUs * 1e-6, shown);
    this.others = new Others(welcome.tickUs);
    this.forms.clear();
    this.heard = 0;
    this.held = null;
    this.pings = 0;
    this.hasPong = false;
    this.nextPing = now;
    this.nextWake = now;
    this.resumeKey = welcome.resumeKey;
    if (welcome.isResumed) this.counts.resumed += 1;
    this.welcome = welcome;
    this.crossing = null;
    this.phase = 'joined';
    this.events.joined(welcome);
  }

  private stand(solids: readonly Solid[], isLast: boolean): void {
    for (const solid of solids) {
      if (this.solids.length === SOLIDS_MAX) break;
      this.ground?.add(solid);
      this.solids.push(solid);
    }
    if (!isLast) return;
    this.isSceneWhole = true;
    this.others.scene = new Scene(this.solids.map(sceneObject).filter((object) => object !== null));
    this.events.sceneChanged();
  }

  private enroll(roster: Roster): void {
    const tick = this.wholeTick(roster.tick);
    const at = this.timeOf(tick);
    if (roster.number !== ((this.heard + 1) & 0xffff)) this.counts.contradictions += 1;
    this.heard = roster.number;
    for (const handle of roster.left) {
      this.forms.delete(handle);
      if (!this.others.leave(handle)) this.counts.contradictions += 1;
    }
    for (const entered of roster.entered) if (!this.others.enter(entered, tick, at)) this.counts.contradictions += 1;
  }

  private hear(now: number, state: StateHead): void {
    // A datagram may overtake the welcome of a resumed session: it speaks of handles that are not given yet, and what
    // they meant on the last connection is another matter.
    if (this.phase !== 'joined' || this.own === null || this.ground === null) return;
    this.counts.states += 1;
    this.counts.bodies += this.bodies.count;
    const tick = this.wholeTick(state.tick);
    if (state.own !== null && tick > this.newestTick) {
      const pos = metres(state.anchor);
      const { isGrounded, velocity, acknowledged } = state.own;
      const walker = { pos, vertical: velocity[1] / VELOCITY_PARTS, isGrounded, support: isGrounded ? pos : null };
      this.own.confirm(walker, acknowledged, this.ground);
    }
    this.newestTick = Math.max(this.newestTick, tick);
    const at = this.timeOf(tick);
    const serverNow = this.clock.ownerTime(now);
    this.others.hear(this.bodies, tick, at, serverNow);
  }

  private tellTime(now: number, pong: Pong): void {
    if (this.phase !== 'joined') return;
    if (!this.hasPong) {
      // A welcome had to wait for a tick and for others: what it says of the time is forgotten at once.
      this.clock = new Clock();
      this.hasPong = true;
    }
    this.clock.handle({ asked: pong.askedUs, received: pong.receivedUs, replied: pong.repliedUs, returned: now });
    const tick = this.wholeTick(pong.tick);
    if (tick >= this.tickBase.tick) this.tickBase = { tick, at: pong.tickedUs };
  }

  /** The tick nearest to the newest known one that ends in these 32 bits. */
  private wholeTick(low: number): number {
    return this.newestTick + ((low - (this.newestTick % 2 ** 32)) | 0);
  }

  private timeOf(tick: number): number {
    return this.tickBase.at + (tick - this.tickBase.tick) * this.tickUs;
  }

  private moveOn(now: number): void {
    if (this.own === null || this.ground === null) return;
    const serverNow = this.clock.ownerTime(now);
    this.number = (this.number + 1) >>> 0;
    this.own.input(this.number, this.intent, this.ground);
    // A jump is one input, not as many as the key is held for.
    this.intent = { ...this.intent, isJump: false };
    const steps = this.own.unanswered(REPEATS);
    const halfTrip = this.clock.errorBoundUs ?? 0;
    const ticks = Math.trunc((serverNow + halfTrip - this.tickBase.at) / this.tickUs);
    const tick = (this.tickBase.tick + ticks + 1) % 2 ** 32;
    this.tell(toServer.moves({ heard: this.heard, tick, newest: this.number, steps }));
  }
}
