// A stay in the world: connects, comes back after a lost connection, a restart of the server or a reload of the page.

import { connect } from '../link/connect.ts';
import type { Link, Transport } from '../link/link.ts';
import type { Reason, Refused } from '../wire/to_client.ts';
import { Client, type ClientEvents } from './client.ts';

/** The silence after which a link is taken for dead, in microseconds. */
const SILENCE_US = 5_000_000;
/** The same where other servers of this world can be asked. */
const DESERTED_US = 2_000_000;
/** A timer that comes later than this was held up, in microseconds. */
const HELD_UP_US = 200_000;
/** Between two attempts, in milliseconds: doubled each time, up to the last. */
const RETRY_MS = { first: 300, last: 4_000 };
/**
 * Refusals after which a user that was in tries again. A page that the browser held up for long, in a hidden tab or
 * while the machine slept, was silent or did not answer; its user did nothing wrong.
 */
const PASSING: readonly Reason[] = ['Full', 'Idle', 'Slow'];

export type Connection =
  | { readonly state: 'connecting' }
  /** The avatar went where another server decides, and is followed there. */
  | { readonly state: 'crossing' }
  | { readonly state: 'connected'; readonly transport: Transport }
  | { readonly state: 'lost'; readonly why: string }
  | { readonly state: 'ended'; readonly refused: Refused };

export interface SessionEvents extends Omit<ClientEvents, 'send' | 'ended' | 'redirected'> {
  /** An input is about to leave: what is wanted? */
  intend(): void;
  connection(connection: Connection): void;
}

/** Where the key is kept that takes up a session after a reload: for as long as the tab lives. */
const RESUME = 'kinesphere.resume';

export const localUs = (): number => Math.round(performance.now() * 1_000);

export class Session {
  readonly client: Client;
  transport: Transport | null = null;
  private link: Link | null = null;
  /** Counts links: of one that was given up nothing counts any more, whatever is still on its way. */
  private attempt = 0;
  private retryMs = RETRY_MS.first;
  private timer = 0;
  /** Since which message nothing was heard, when that was looked at last, and for how long. */
  private silent = { since: 0, at: 0, us: 0 };
  private isOver = false;
  private wasIn = false;
  /** Where the server is; none is where the page came from. */
  private server: string | null = null;

  constructor(
    private readonly nickname: string,
    private readonly avatar: number,
    private readonly token: Uint8Array,
    private readonly only: Transport | null,
    private readonly events: SessionEvents,
  ) {
    this.client = new Client({
      ...events,
      send: (message, isDatagram) => {
        if (isDatagram) this.link?.sendDatagram(message);
        else this.link?.send(message);
      },
      joined: (welcome) => {
        // A user that left before it was let in must not be inside after a reload.
        if (this.isOver) return;
        this.wasIn = true;
        this.retryMs = RETRY_MS.first;
        keepResumeKey(welcome.resumeKey, welcome.nickname, avatar);
        events.joined(welcome);
      },
      ended: (refused) => this.end(refused),
      redirected: (address) => this.goTo(address),
      sceneChanged: () => events.sceneChanged(),
      said: (said) => events.said(said),
      grabbed: (object, isHeld) => events.grabbed(object, isHeld),
    });
  }

  /** Begins; with a key it takes up an earlier stay. */
  start(resumeKey: Uint8Array | null): void {
    this.client.resumeKey = resumeKey;
    void this.connect('connecting');
    this.tick();
  }

  /** Leaves for good. */
  leave(): void {
    this.client.leave();
    this.isOver = true;
    forgetResumeKey();
    clearTimeout(this.timer);
    setTimeout(() => this.link?.close(), 100);
  }

  private async connect(state: 'connecting' | 'crossing'): Promise<void> {
    this.events.connection({ state });
    this.attempt += 1;
    const { attempt } = this;
    const isInUse = (): boolean => attempt === this.attempt;
    try {
      const link = await connect(
        {
          received: (message) => {
            if (isInUse()) this.client.received(localUs(), message);
          },
          closed: (why) => {
            if (isInUse()) this.lose(why);
          },
        },
        this.only,
        this.server,
      );
      if (this.isOver || !isInUse()) return link.close();
      this.link = link;
      this.transport = link.transport;
      this.client.open(localUs(), this.nickname, this.avatar, this.token);
      this.events.connection({ state: 'connected', transport: link.transport });
    } catch (error) {
      if (isInUse()) this.lose(error instanceof Error ? error.message : String(error));
    }
  }

  /** Gives up the link. */
  private drop(): void {
    this.attempt += 1;
    this.link?.close();
    this.link = null;
    this.transport = null;
  }

  private lose(why: string): void {
    this.drop();
    this.client.lose();
    if (this.isOver) return;
    this.events.connection({ state: 'lost', why });
    this.tryAnother();
    setTimeout(() => {
      if (!this.isOver) void this.connect('connecting');
    }, this.retryMs);
    this.retryMs = Math.min(2 * this.retryMs, RETRY_MS.last);
  }

  /** The avatar is at another server: goes there, with the key. */
  private goTo(address: string): void {
    this.drop();
    this.server = address;
    if (!this.isOver) void this.connect('crossing');
  }

  /** A client that lost one server of several asks another, which knows where the avatar is, or soon will. */
  private tryAnother(): void {
    const { servers } = this.client;
    if (servers.length < 2) return;
    const at = servers.indexOf(this.server ?? location.origin);
    this.server = servers[(at + 1) % servers.length]!;
    this.retryMs = RETRY_MS.first;
  }

  private end(refused: Refused): void {
    // The server's goodbye to a user that has left.
    if (this.isOver) return;
    const comesBack = refused.reason === 'Stopping' || (this.wasIn && PASSING.includes(refused.reason));
    // It is told within another sentence.
    if (comesBack) return this.lose(refused.sentence.replace(/\.$/, ''));
    this.drop();
    this.isOver = true;
    if (refused.reason !== 'Resumed') forgetResumeKey();
    clearTimeout(this.timer);
    this.events.connection({ state: 'ended', refused });
  }

  /** How long nothing was heard, in microseconds, without the time in which the page itself was held up. */
  private silence(now: number): number {
    const { heardAt } = this.client;
    const { since, at, us } = this.silent;
    this.silent = { since: heardAt, at: now, us: since === heardAt ? us + Math.min(now - at, HELD_UP_US) : 0 };
    return this.silent.us;
  }

  /** Inputs leave on a timer, not with the frames: a slow picture must not slow the steps. */
  private tick(): void {
    const now = localUs();
    if (this.client.phase === 'joined' && now >= this.client.wakeAt) this.events.intend();
    this.client.wake(now);
    const silence = this.silence(now);
    const patience = this.client.phase === 'joined' && this.client.servers.length > 1 ? DESERTED_US : SILENCE_US;
    if (this.link !== null && silence > (this.client.phase === 'greeting' ? 2 * SILENCE_US : patience)) {
      this.lose('nothing was heard of the server for some time');
    }
    if (this.isOver) return;
    const wait = Math.max(1, Math.min(50, (this.client.wakeAt - localUs()) / 1_000));
    this.timer = window.setTimeout(() => this.tick(), this.client.phase === 'joined' ? wait : 50);
  }
}

export interface Kept {
  readonly key: Uint8Array;
  readonly nickname: string;
  readonly avatar: number;
}

function keepResumeKey(key: Uint8Array, nickname: string, avatar: number): void {
  try {
    sessionStorage.setItem(RESUME, JSON.stringify({ key: [...key], nickname, avatar }));
  } catch {
    // A browser that keeps nothing is fine: after a reload one enters anew.
  }
}

export function forgetResumeKey(): void {
  try {
    sessionStorage.removeItem(RESUME);
  } catch {
    // What cannot be kept is forgotten.
  }
}

/** What an earlier stay of this tab left, if it can be read. */
export function keptResumeKey(): Kept | null {
  try {
    const { key, nickname, avatar } = JSON.parse(sessionStorage.getItem(RESUME) ?? '') as Record<string, unknown>;
    const isKey = Array.isArray(key) && key.length === 16 && typeof nickname === 'string' && typeof avatar === 'number';
    return isKey ? { key: Uint8Array.from(key as number[]), nickname, avatar } : null;
  } catch {
    return null;
  }
}
