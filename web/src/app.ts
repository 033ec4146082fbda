// The page: brings together what is heard, what is drawn and what is wanted.

import type { Client } from './client/client.ts';
import { readModels } from './client/models.ts';
import { type Connection, type Kept, Session, forgetResumeKey, keptResumeKey, localUs } from './client/session.ts';
import { introduce } from './link/connect.ts';
import type { Transport } from './link/link.ts';
import { Inspector } from './overlay/inspector.ts';
import { Chat } from './ui/chat.ts';
import { Controls } from './ui/controls.ts';
import { Dialog, type Entering } from './ui/dialog.ts';
import { element } from './ui/element.ts';
import { type Settings, keepSettings, readSettings } from './ui/settings.ts';
import { Sound } from './ui/sound.ts';
import { StatusBar } from './ui/status.ts';
import { Users } from './ui/users.ts';
import { Avatars } from './view/avatars.ts';
import { Camera } from './view/camera.ts';
import { Labels, type Named } from './view/labels.ts';
import { Models } from './view/models.ts';
import { Pace } from './view/pace.ts';
import { People } from './view/people.ts';
import { Place } from './view/place.ts';
import { type Quality, Stage } from './view/stage.ts';
import { type Thing, Things } from './view/things.ts';
import { Touches } from './view/touches.ts';
import { STEPS_PER_METRE, UNTURNED, nearestHeading } from './wire/pose.ts';
import { halfHeight } from './wire/shape.ts';
import { VELOCITY_PARTS } from './wire/state.ts';
import type { Solid, Welcome } from './wire/to_client.ts';

/** How near something has to be to be taken, in metres from the middle of the own avatar. */
const GRAB_REACH = 2;
/** How long a name shows that its user spoke, in seconds. */
const SPEAKING_S = 4;

/** Strollers in the picture behind the dialog. */
const STROLLERS = 14;

const key = (name: string): HTMLElement => element('kbd', {}, name);

export class App {
  session: Session | null = null;
  readonly stage: Stage;
  readonly camera: Camera;
  private readonly settings: Settings = readSettings();
  private readonly avatars: Avatars;
  private readonly people: People;
  private readonly models = new Models();
  private readonly things = new Things(this.models);
  private readonly touches: Touches;
  private readonly labels: Labels;
  private place: Place | null = null;
  private readonly dialog: Dialog;
  private readonly chat: Chat;
  private readonly users = new Users();
  private readonly status: StatusBar;
  private readonly controls: Controls;
  private readonly sound: Sound;
  readonly inspector: Inspector;
  private readonly hint = element('div', { id: 'hint', class: 'panel' });
  private readonly prompt = element('div', { id: 'prompt', class: 'panel' });
  private readonly speaking = new Map<number, number>();
  private heading = 0;
  private wantsJump = false;
  private last = 0;
  private lastSlow = 0;
  private graspable: number | null = null;
  /** For the bench and tests: how long the page's own work took in the last frame, in milliseconds. */
  workMs = 0;
  frames = 0;
  placesBuilt = 0;

  constructor(canvas: HTMLCanvasElement, names: HTMLElement, ui: HTMLElement, quality: Quality,
    private readonly only: Transport | null, private readonly pace: Pace | null) {
    this.stage = new Stage(canvas, quality);
    this.camera = new Camera(this.stage.camera);
    this.avatars = new Avatars(quality === 'high');
    this.people = new People(this.avatars);
    this.labels = new Labels(names);
    this.sound = new Sound(this.settings.isMuted);
    this.touches = new Touches(this.avatars, (strength) => {
      this.sound.thud(strength);
      this.controls.rumble(strength);
    });
    this.stage.scene.add(this.avatars.root, this.things.root, this.touches.root);
    this.dialog = new Dialog(this.settings, quality === 'high', (entering) => this.enter(entering, null));
    this.chat = new Chat((text) => this.session?.client.say(text) ?? false, () => canvas.focus());
    this.controls = new Controls(canvas, ui, {
      look: (yaw, pitch) => this.camera.turn(yaw, pitch),
      zoom: (factor) => this.camera.zoom(factor),
      jump: () => (this.wantsJump = true),
      grab: () => this.grab(),
      chat: () => this.chat.open(),
      toggle: (what) => this.toggle(what),
      used: () => this.forgetHint(),
    });
    this.inspector = new Inspector(this.stage.scene, this.stage.camera, canvas);
    this.status = new StatusBar((what) =>
      (what === 'leave' ? this.leave() : what === 'chat' ? this.chat.open() : this.toggle(what)));
    this.hint.append(key('W A S D'), ' or arrows walk, drag to look, ', key('Space'), ' jumps, ', key('E'), ' holds, ',
      key('T'), ' talks, ', key('I'), ' looks inside');
    this.prompt.hidden = true;
    this.hint.hidden = true;
    this.users.root.hidden = innerWidth < 720;
    for (const part of [this.status.root, this.users.root, this.chat.root]) part.hidden ||= true;
    ui.append(this.status.root, this.status.banner, this.users.root, this.chat.root, this.inspector.root, this.hint,
      this.prompt, this.dialog.root);
    if (quality === 'high') {
      this.place = new Place(...picture());
      this.stage.scene.add(this.place.root);
    }
    this.dialog.open();
    void introduce().then(
      ({ world, sky, avatars, peer }) => {
        this.dialog.introduce(world, avatars);
        if (typeof sky === 'string') this.stage.tint(sky);
        if (typeof peer === 'string') this.showPeer(peer);
      },
      () => {},
    );
    // Asked for at once, so that they are mostly there before the user enters; until then shapes are balls.
    void readModels().then((told) => {
      const objects = [...this.models.take(told)];
      this.things.renew(objects);
      this.place?.renew(objects);
    }, () => {});
    const kept = keptResumeKey();
    if (kept !== null) this.enter({ nickname: kept.nickname, avatar: kept.avatar, token: '' }, kept);
    requestAnimationFrame((now) => this.frame(now));
  }

  private enter({ nickname, avatar, token }: Entering, kept: Kept | null): void {
    this.dialog.isBusy = true;
    this.settings.nickname = nickname;
    this.settings.avatar = avatar;
    if (kept === null) forgetResumeKey();
    const bytes = new TextEncoder().encode(token);
    let isFirstWelcome = true;
    // Events of a session that was left are ignored.
    const isCurrent = (): boolean => this.session === session;
    const session: Session = new Session(nickname, avatar, bytes, this.only, {
      connection: (connection) => {
        if (isCurrent()) this.connected(connection);
      },
      // On a timer, too: a slow picture must not slow the steps.
      intend: () => {
        if (isCurrent()) this.intend(0);
      },
      joined: (welcome) => {
        if (!isCurrent()) return;
        keepSettings(this.settings);
        this.dialog.close();
        this.forgetPeople();
        this.controls.isOpen = true;
        if (!welcome.isResumed) this.camera.reset();
        // A user that resumes or crosses a border may be typing, and has chosen what is open.
        if (isFirstWelcome) this.unfold();
        isFirstWelcome = false;
      },
      sceneChanged: () => {
        if (isCurrent()) this.build();
      },
      said: ({ speaker, name, text }) => {
        if (!isCurrent()) return;
        if (speaker !== null) this.speaking.set(speaker, performance.now() / 1_000 + SPEAKING_S);
        this.chat.add(name, text);
      },
      grabbed: (object, isHeld) => {
        if (isCurrent() && !isHeld && object === this.graspable) this.status.say('Another user holds it.');
      },
    });
    this.session = session;
    session.start(kept?.key ?? null);
  }

  /** Shows what belongs to a stay, as it is at its beginning. */
  private unfold(): void {
    for (const part of [this.status.root, this.chat.root]) part.hidden = false;
    this.users.root.hidden = innerWidth < 720;
    this.hint.hidden = !this.settings.isFirstTime;
    this.mark();
    this.stage.canvas.focus({ preventScroll: true });
  }

  private leave(): void {
    this.session?.leave();
    this.close('');
  }

  private close(sentence: string): void {
    this.session = null;
    this.forgetPeople();
    this.labels.clear();
    this.controls.isOpen = false;
    this.inspector.close();
    this.status.hush();
    for (const part of [this.status.root, this.users.root, this.chat.root, this.hint, this.prompt]) part.hidden = true;
    this.dialog.open(sentence);
  }

  /** Handles mean other users from now on: nothing drawn so far is kept. */
  private forgetPeople(): void {
    this.people.clear();
    this.avatars.clear();
  }

  private connected(connection: Connection): void {
    const isInside = this.session?.client.welcome != null;
    this.status.show(connection, isInside);
    if (connection.state === 'ended') this.close(connection.refused.sentence || 'The server let you go.');
    else if (connection.state === 'lost' && !isInside) {
      // The user has not entered yet: say so in the dialog, and let the user decide when to try again.
      this.session?.leave();
      this.close(`The server cannot be reached: ${connection.why}.`);
    }
  }

  private toggle(what: 'inspector' | 'users' | 'view' | 'sound'): void {
    if (what === 'inspector') this.inspector.toggle();
    if (what === 'users') this.users.root.hidden = !this.users.root.hidden;
    if (what === 'view') this.camera.isFirstPerson = !this.camera.isFirstPerson;
    if (what === 'sound') {
      this.settings.isMuted = !this.settings.isMuted;
      this.sound.isMuted = this.settings.isMuted;
      keepSettings(this.settings);
    }
    this.mark();
  }

  private mark(): void {
    this.status.mark({ inspector: this.inspector.isOpen, users: !this.users.root.hidden,
      view: this.camera.isFirstPerson, sound: !this.settings.isMuted });
  }

  private forgetHint(): void {
    if (!this.settings.isFirstTime) return;
    this.settings.isFirstTime = false;
    keepSettings(this.settings);
    setTimeout(() => this.hint.classList.add('gone'), 4_000);
  }

  private grab(): void {
    const client = this.session?.client;
    if (!client) return;
    if (client.held !== null) client.release();
    else if (this.graspable !== null) client.grab(this.graspable);
  }

  private build(): void {
    const client = this.session?.client;
    if (!client?.welcome || this.place?.isOf(client.welcome.bounds, client.solids)) return;
    if (this.place !== null) this.stage.scene.remove(this.place.root);
    this.place?.dispose();
    this.place = new Place(client.welcome.bounds, client.solids, this.models);
    this.placesBuilt += 1;
    this.stage.scene.add(this.place.root);
  }

  private frame(now: number): void {
    requestAnimationFrame((now) => this.frame(now));
    // Where pictures are expensive, twenty a second have to do, and five before the user enters. But what a user does
    // is seen with the next one.
    const least = this.stage.quality === 'high' || this.controls.isChanged ? 0 : this.session === null ? 200 : 45;
    if (now - this.last < least) return;
    const took = Math.max((now - this.last) / 1_000, 0);
    const elapsed = Math.min(took, 0.25);
    this.last = now;
    const seconds = now / 1_000;
    const begun = performance.now();
    this.frames += 1;
    const client = this.session?.client;
    if (client?.own && client.welcome) {
      this.intend(elapsed);
      if (this.pace?.isTooSlow(took)) this.stage.drawLess();
      // Where pictures are slow the timer of the session waits behind them: with each, an input that is due leaves.
      client.wake(localUs());
      client.show(localUs(), elapsed, this.stage.camera.position);
      this.draw(seconds, elapsed);
    } else {
      this.controls.isChanged = false;
      // Before the user enters, a plaza turns slowly behind the dialog, with a few strollers.
      const turn = 0.6 + seconds / 60;
      this.stage.camera.position.set(13 * Math.sin(turn), 3.2, 13 * Math.cos(turn));
      this.stage.camera.lookAt(0, 1.8, 0);
      if (this.stage.quality === 'high') this.stroll(seconds, elapsed);
    }
    this.place?.animate(seconds);
    this.workMs = performance.now() - begun;
    this.stage.draw(this.stage.camera.position);
    if (now - this.lastSlow > 250) {
      this.lastSlow = now;
      this.slowly();
    }
  }

  /** The page of a peer: its user has a name already, and peers neither jump nor hold anything. */
  private showPeer(name: string): void {
    this.dialog.peer = name;
    this.hint.replaceChildren(key('W A S D'), ' or arrows walk, drag to look, ', key('T'), ' talks, ', key('I'),
      ' looks inside');
  }

  /** A few people around the fountain, for the picture behind the dialog. */
  private stroll(seconds: number, elapsed: number): void {
    this.avatars.begin(seconds, elapsed);
    for (let index = 0; index < STROLLERS; index++) {
      const away = 4 + (index % 5) * 1.3;
      const angle = index * 2.399 + (index % 2 === 0 ? seconds : -seconds) * (0.9 / away);
      const heading = -angle - (index % 2 === 0 ? Math.PI : 0);
      const isChild = index % 4 === 3;
      const half = isChild ? 0.6 : 0.9;
      const place = this.avatars.enter(index + 1, half, isChild ? 0.25 : 0.3, heading);
      this.avatars.pose(place, away * Math.cos(angle), half, away * Math.sin(angle), heading, 1, 1);
    }
    this.avatars.finish();
  }

  /** What is wanted becomes the intent of the next input. */
  private intend(elapsed: number): void {
    const client = this.session?.client;
    if (!client?.welcome) return;
    const { side, ahead, rise } = this.controls.wish(elapsed);
    const { speedMax, gravity } = client.welcome.walking;
    const [sin, cos] = [Math.sin(this.camera.yaw), Math.cos(this.camera.yaw)];
    const x = sin * ahead - cos * side;
    const z = cos * ahead + sin * side;
    if (x !== 0 || z !== 0) this.heading = Math.atan2(x, z);
    else if (this.camera.isFirstPerson) this.heading = this.camera.yaw;
    // Towards zero: a wish that is too fast by a hair is refused whole.
    const part = (value: number) => Math.trunc(value * speedMax * VELOCITY_PARTS);
    const up = gravity === 0 ? part(rise) : 0;
    client.intent = { velocity: [part(x), up, part(z)], heading: nearestHeading(this.heading),
      isJump: client.intent.isJump || this.wantsJump };
    this.wantsJump = false;
  }

  private draw(seconds: number, elapsed: number): void {
    const client = this.session!.client;
    const welcome = client.welcome!;
    const own = client.own!.shown;
    const ownHalf = halfHeight(welcome.shape);
    const now = localUs();
    this.avatars.begin(seconds, elapsed);
    if (this.camera.isFirstPerson) this.avatars.leave(welcome.own);
    else {
      const [vx, , vz] = client.intent.velocity;
      const place = this.avatars.enter(welcome.own, ownHalf,
        welcome.shape.form === 'capsule' ? welcome.shape.radius : ownHalf, this.heading);
      this.avatars.pose(place, own.x, own.y, own.z, this.heading, Math.hypot(vx, vz) / VELOCITY_PARTS, 1);
    }
    this.people.draw(client.others);
    this.avatars.finish();
    const things: Thing[] = [];
    for (const { entered, handle, shown } of client.others.things.values()) {
      things.push({ object: entered.object, kind: entered.kind, shape: entered.shape, pos: shown.pos, rot: shown.rot,
        clock: client.clockOf(handle, now) });
    }
    this.things.draw(things);
    this.findGraspable(own, things);
    this.things.highlight(client.held ?? this.graspable);
    this.camera.follow(own, ownHalf, client.ground, elapsed);
    this.touches.look(client, own, elapsed, this.inspector.isOpen);
    this.labels.draw(this.named(client, seconds), this.stage.camera, innerWidth, innerHeight);
    this.inspector.draw(client, elapsed, this.workMs);
  }

  /** Users near enough that their names can be read. */
  private named(client: Client, seconds: number): Named[] {
    const named: Named[] = [];
    for (const { entered, x, y, z } of client.others.near()) {
      if (entered.kind !== 'Avatar' || entered.name === ''
        || !this.labels.isWithin(x, y, z, this.stage.camera)) continue;
      const isSpeaking = (this.speaking.get(entered.object) ?? 0) > seconds;
      named.push({ name: entered.name, x, y: y + halfHeight(entered.shape) + 0.12, z, isSpeaking });
    }
    return named;
  }

  private findGraspable(own: { x: number; y: number; z: number }, things: readonly Thing[]): void {
    let best: number | null = null;
    let least = GRAB_REACH;
    for (const { object, kind, pos } of things) {
      if (kind !== 'Movable') continue;
      const away = Math.hypot(pos.x - own.x, pos.y - own.y, pos.z - own.z);
      // What one looks at is taken before what is behind.
      const ahead = (pos.x - own.x) * Math.sin(this.heading) + (pos.z - own.z) * Math.cos(this.heading);
      const score = away - 0.3 * ahead;
      if (away <= GRAB_REACH && score < least) [best, least] = [object, score];
    }
    this.graspable = best;
  }

  /** What need not be looked at in every frame. */
  private slowly(): void {
    const client = this.session?.client;
    if (!client?.welcome) return;
    this.users.show(client.welcome, client.others);
    this.status.measure(client.clock.leastRoundTripUs);
    const text = client.held !== null ? 'E lets go' : this.graspable !== null ? 'E takes hold of it' : '';
    this.prompt.hidden = text === '' || document.body.classList.contains('touch');
    this.prompt.textContent = text;
    this.controls.showHands(client.held !== null, this.graspable !== null);
  }
}

/** A fountain on a plaza: a picture, before anything is known of the world. */
function picture(): [Welcome['bounds'], Solid[]] {
  const solid = (object: number, y: number, shape: Solid['shape'], x = 0, z = 0): Solid => ({
    object,
    shape,
    place: [Math.round(x * STEPS_PER_METRE), Math.round(y * STEPS_PER_METRE), Math.round(z * STEPS_PER_METRE)],
    turn: UNTURNED,
  });
  const solids = [
    solid(1, 0.15, { form: 'box', half: [2.5, 0.15, 2.5] }),
    solid(2, 0.8, { form: 'box', half: [1.5, 0.5, 1.5] }),
    solid(3, 2.7, { form: 'capsule', halfHeight: 1, radius: 0.4 }),
    ...[0, 1, 2, 3].map((corner) =>
      solid(4 + corner, 2, { form: 'capsule', halfHeight: 1.5, radius: 0.5 }, corner % 2 === 0 ? -12 : 12,
      corner < 2 ? -12 : 12)),
  ];
  const reach = 26 * STEPS_PER_METRE;
  return [[[-reach, 0, -reach], [reach, 30 * STEPS_PER_METRE, reach]], solids];
}
