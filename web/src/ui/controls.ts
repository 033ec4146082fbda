// What a user wants, from keys, mouse, touch and gamepad. It is asked for; it does not wait.

import { element } from './element.ts';

export interface Wish {
  /** Sideways and forwards, each from -1 to 1, as the camera looks. */
  readonly side: number;
  readonly ahead: number;
  /** Up and down, in worlds to fly in. */
  readonly rise: number;
}

export interface ControlEvents {
  look(yaw: number, pitch: number): void;
  zoom(factor: number): void;
  jump(): void;
  grab(): void;
  chat(): void;
  toggle(what: 'inspector' | 'users' | 'view' | 'sound'): void;
  used(): void;
}

const KEYS: Readonly<Record<string, readonly [number, number]>> = {
  KeyW: [0, 1],
  ArrowUp: [0, 1],
  KeyS: [0, -1],
  ArrowDown: [0, -1],
  KeyA: [-1, 0],
  ArrowLeft: [-1, 0],
  KeyD: [1, 0],
  ArrowRight: [1, 0],
};
const LOOK = { mouse: 0.0042, touch: 0.006, pad: 2.6, stick: 2.2 };
const DEAD_ZONE = 0.15;

export class Controls {
  private isIn = false;
  /** What was wanted when it was asked for last is not what is wanted now: a key went down or up, a stick was moved. */
  isChanged = false;
  private readonly held = new Set<string>();
  private stick = { side: 0, ahead: 0 };
  private lookStick = { side: 0, ahead: 0 };
  /** Fingers and mouse buttons that are down in the picture, and where. */
  private readonly pointers = new Map<number, { x: number; y: number }>();
  private readonly hold = element('button', { type: 'button', 'data-do': 'hold' }, 'Hold');
  private pad = { side: 0, ahead: 0, buttons: 0 };
  private pinch = 0;

  constructor(private readonly canvas: HTMLElement, root: HTMLElement, private readonly events: ControlEvents) {
    addEventListener('keydown', (event) => {
      this.isChanged ||= !event.repeat;
      this.keyDown(event);
    });
    addEventListener('keyup', (event) => {
      this.isChanged = true;
      this.held.delete(event.code);
    });
    // A pointer leaves the focus on what it clicked, which would keep Space for itself: the next jump would press it
    // again.
    addEventListener('click', (event) => {
      // Counts clicks of a pointer, and is 0 for keys. Later, for a label hands on the focus after its own click.
      if (event.detail > 0) setTimeout(() => this.isOpen && blurPressable());
    });
    addEventListener('blur', () => {
      this.held.clear();
      this.pointers.clear();
    });
    canvas.addEventListener('pointerdown', (event) => this.pointerDown(event));
    canvas.addEventListener('pointermove', (event) => this.pointerMove(event));
    canvas.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    canvas.addEventListener('contextmenu', (event) => event.preventDefault());
    for (const end of ['pointerup', 'pointercancel', 'lostpointercapture'] as const) canvas.addEventListener(end,
      (event) => this.pointerUp(event));
    const move = makeStick('move', (side, ahead) => {
      this.isChanged = true;
      this.stick = { side, ahead };
    });
    const look = makeStick('look', (side, ahead) => (this.lookStick = { side, ahead }));
    for (const stick of [move, look]) stick.addEventListener('pointerdown', () => events.used());
    root.append(move, look, this.makeButtons());
    if (matchMedia('(pointer: coarse)').matches) document.body.classList.add('touch');
  }

  /** Whether there is a world to move in. */
  get isOpen(): boolean {
    return this.isIn;
  }

  set isOpen(isOpen: boolean) {
    this.isIn = isOpen;
    document.body.classList.toggle('inside', isOpen);
  }

  /** What is wanted now. `elapsed` seconds have passed since it was asked last. */
  wish(elapsed: number): Wish {
    this.readPad(elapsed);
    // Between pictures it is asked for, too; then nothing is seen of it yet.
    if (elapsed > 0) this.isChanged = false;
    this.events.look(-this.lookStick.side * LOOK.stick * elapsed, -this.lookStick.ahead * LOOK.stick * elapsed);
    let side = this.stick.side + this.pad.side;
    let ahead = this.stick.ahead + this.pad.ahead;
    for (const code of this.held) {
      side += KEYS[code]?.[0] ?? 0;
      ahead += KEYS[code]?.[1] ?? 0;
    }
    const rise = (this.held.has('Space') ? 1 : 0) - (this.held.has('KeyC') ? 1 : 0);
    const far = Math.hypot(side, ahead);
    return far > 1 ? { side: side / far, ahead: ahead / far, rise } : { side, ahead, rise };
  }

  /** Says what the button for hands does now. */
  showHands(isHolding: boolean, isReaching: boolean): void {
    this.hold.textContent = isHolding ? 'Let go' : 'Hold';
    this.hold.classList.toggle('ready', isHolding || isReaching);
  }

  /** Lets a gamepad be felt. */
  rumble(strength: number): void {
    for (const pad of navigator.getGamepads?.() ?? []) {
      void pad?.vibrationActuator?.playEffect('dual-rumble',
        { duration: 90, strongMagnitude: strength, weakMagnitude: 0.5 * strength }).catch(() => {});
    }
  }

  private keyDown(event: KeyboardEvent): void {
    if (!this.isOpen || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as HTMLElement;
    if (target instanceof HTMLInputElement && !isPressable(target)) return;
    // What has the focus keeps the keys that it needs.
    if (isPressable(target) && (event.code === 'Space' || event.code === 'Enter')) return;
    if (event.code in KEYS) {
      this.held.add(event.code);
      this.events.used();
      event.preventDefault();
      return;
    }
    if (event.repeat) return;
    switch (event.code) {
      case 'Space':
        this.held.add(event.code);
        event.preventDefault();
        return this.events.jump();
      case 'KeyC':
        this.held.add(event.code);
        return;
      case 'KeyE':
        return this.events.grab();
      case 'Enter':
      case 'KeyT':
        event.preventDefault();
        return this.events.chat();
      case 'KeyI':
        return this.events.toggle('inspector');
      case 'KeyU':
        return this.events.toggle('users');
      case 'KeyV':
        return this.events.toggle('view');
      case 'KeyM':
        return this.events.toggle('sound');
    }
  }

  private pointerDown(event: PointerEvent): void {
    if (event.pointerType === 'touch') document.body.classList.add('touch');
    this.canvas.focus({ preventScroll: true });
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    this.pinch = 0;
  }

  private pointerUp(event: PointerEvent): void {
    this.pointers.delete(event.pointerId);
    this.pinch = 0;
  }

  /** One finger or the mouse looks around, two fingers zoom. By places, for not every browser says how far a finger
   * moved. */
  private pointerMove(event: PointerEvent): void {
    const before = this.pointers.get(event.pointerId);
    if (!this.isOpen || before === undefined) return;
    const [dx, dy] = [event.clientX - before.x, event.clientY - before.y];
    this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const [one, other] = [...this.pointers.values()];
    if (one !== undefined && other !== undefined) {
      const apart = Math.max(Math.hypot(one.x - other.x, one.y - other.y), 1);
      if (this.pinch > 0) this.events.zoom(this.pinch / apart);
      this.pinch = apart;
      return;
    }
    const scale = event.pointerType === 'touch' ? LOOK.touch : LOOK.mouse;
    this.events.look(-dx * scale, dy * scale);
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    if (this.isOpen) this.events.zoom(Math.exp(event.deltaY * 0.0012));
  }

  private makeButtons(): HTMLElement {
    const jump = element('button', { type: 'button', 'data-do': 'jump' }, 'Jump');
    // At once, not when the finger is lifted.
    const press = (button: HTMLElement, act: () => void) => {
      button.addEventListener('pointerdown', (event) => {
        event.preventDefault();
        act();
      });
    };
    press(this.hold, () => this.events.grab());
    press(jump, () => {
      this.isChanged = true;
      this.events.jump();
    });
    return element('div', { class: 'touch-buttons', 'aria-hidden': 'true' }, this.hold, jump);
  }

  private readPad(elapsed: number): void {
    const pad = [...(navigator.getGamepads?.() ?? [])].find((pad) => pad !== null);
    if (!pad || !this.isOpen) {
      this.pad = { side: 0, ahead: 0, buttons: 0 };
      return;
    }
    const axis = (index: number) => {
      const value = pad.axes[index] ?? 0;
      return Math.abs(value) < DEAD_ZONE ? 0 : (value - Math.sign(value) * DEAD_ZONE) / (1 - DEAD_ZONE);
    };
    this.events.look(-axis(2) * LOOK.pad * elapsed, axis(3) * LOOK.pad * elapsed);
    let buttons = 0;
    pad.buttons.forEach((button, index) => (buttons |= button.pressed ? 1 << index : 0));
    const pressed = buttons & ~this.pad.buttons;
    if (pressed & 1) this.events.jump();
    if (pressed & 4) this.events.grab();
    if (pressed & 8) this.events.toggle('view');
    this.pad = { side: axis(0), ahead: -axis(1), buttons };
    if (buttons !== 0 || this.pad.side !== 0 || this.pad.ahead !== 0) this.events.used();
  }
}

/** Whether this is something to press, not to type into. */
function isPressable(part: Element | null): part is HTMLElement {
  return part instanceof HTMLButtonElement
    || (part instanceof HTMLInputElement && (part.type === 'checkbox' || part.type === 'radio'));
}

function blurPressable(): void {
  const focused = document.activeElement;
  if (isPressable(focused)) focused.blur();
}

/** A stick for a thumb; what it says is between -1 and 1, sideways and ahead. */
function makeStick(name: string, moved: (side: number, ahead: number) => void): HTMLElement {
  const knob = element('i');
  const stick = element('div', { class: `stick ${name}`, 'aria-hidden': 'true' }, knob);
  let finger: number | null = null;
  const set = (side: number, ahead: number) => {
    moved(side, ahead);
    knob.style.transform = `translate(${34 * side}px, ${-34 * ahead}px)`;
  };
  const move = (event: PointerEvent) => {
    if (event.pointerId !== finger) return;
    const box = stick.getBoundingClientRect();
    const [x, y] = [(2 * (event.clientX - box.left)) / box.width - 1, (2 * (event.clientY - box.top)) / box.height - 1];
    const far = Math.max(1, Math.hypot(x, y));
    // Near the middle it says nothing: a thumb is never quite still.
    if (Math.hypot(x, y) < DEAD_ZONE) set(0, 0);
    else set(x / far, -y / far);
  };
  const end = (event: PointerEvent) => {
    if (event.pointerId !== finger) return;
    finger = null;
    set(0, 0);
  };
  stick.addEventListener('pointerdown', (event) => {
    finger = event.pointerId;
    stick.setPointerCapture(event.pointerId);
    move(event);
  });
  stick.addEventListener('pointermove', move);
  for (const kind of ['pointerup', 'pointercancel', 'lostpointercapture'] as const) stick.addEventListener(kind, end);
  return stick;
}
