// The first screen: the name of the world, one line on what this is, a nickname, an avatar, one big button.

import { AvatarPortraits } from '../view/portrait.ts';
import type { AvatarLook } from '../link/link.ts';
import { element } from './element.ts';
import type { Settings } from './settings.ts';

export interface Entering {
  readonly nickname: string;
  readonly avatar: number;
  readonly token: string;
}

/** The avatars to choose from where the server names none. */
const WALKER: AvatarLook = { name: 'walker', height: 1.8, radius: 0.3 };
/** More choices than this are not shown: a hello has one byte for them, and a dialog less room. */
const AVATARS_MAX = 12;

export class Dialog {
  readonly root: HTMLElement;
  private readonly nickname =
    element('input', { type: 'text', id: 'nickname', autocomplete: 'nickname', maxlength: '64', required: '' });
  private readonly token =
    element('input', { type: 'password', id: 'token', autocomplete: 'off',
    placeholder: 'only where a server asks for one' });
  private readonly error = element('p', { class: 'error', role: 'alert' });
  private readonly go = element('button', { class: 'go', type: 'submit' }, 'Enter');
  private readonly title = element('h1', {}, 'Kinesphere');
  private readonly avatars = element('fieldset');
  private readonly about =
    element('p', {}, 'A place at dusk that you share with everybody who is here. What touches, touches.');
  /** What only a server lets one choose. */
  private readonly choices: HTMLElement[];
  private readonly portraits: AvatarPortraits;
  /** Which avatar was taken last time, or is chosen now. */
  private chosen = 0;

  constructor(settings: Settings, isLively: boolean, onEnter: (entering: Entering) => void) {
    this.nickname.value = settings.nickname;
    this.portraits = new AvatarPortraits(isLively);
    this.chosen = settings.avatar;
    this.offer([WALKER]);
    this.choices = [
      element('label', { for: 'nickname' }, 'Your name', this.nickname),
      this.avatars,
      element('details', {}, element('summary', {}, 'I have an invitation'), this.token),
    ];
    const form = element(
      'form',
      { class: 'panel', 'aria-label': 'Enter' },
      this.title,
      this.about,
      ...this.choices,
      this.error,
      this.go,
    );
    form.noValidate = true;
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.error.textContent = '';
      this.isBusy = true;
      onEnter({ nickname: this.nickname.value, avatar: this.avatar, token: this.token.value.trim() });
    });
    this.root = element('section', { id: 'enter' }, form);
  }

  /** The world's name and its avatars, as soon as they are known. */
  introduce(name: string, avatars: readonly AvatarLook[]): void {
    if (avatars.length > 0) this.offer(avatars);
    if (name === '') return;
    this.title.replaceChildren(element('small', {}, 'Kinesphere'), name);
    document.title = `${name}: Kinesphere`;
  }

  /** The chosen avatar; the first, where the world has fewer. */
  private get avatar(): number {
    const radio = this.avatars.querySelector<HTMLInputElement>('input[name=avatar]:checked');
    return Number(radio?.value ?? 0);
  }

  /** Shows what there is to choose from. */
  private offer(looks: readonly AvatarLook[]): void {
    const offered = looks.slice(0, AVATARS_MAX);
    const canvases = offered.map(() => element('canvas', { width: '192', height: '192', 'aria-hidden': 'true' }));
    const chosen = this.chosen < offered.length ? this.chosen : 0;
    const choices = offered.map(({ name }, index) => {
      const radio = element('input', { type: 'radio', name: 'avatar', value: String(index) });
      radio.checked = index === chosen;
      radio.addEventListener('change', () => (this.chosen = index));
      return element('label', { class: 'avatar' }, radio, canvases[index]!, name);
    });
    this.avatars.replaceChildren(element('legend', {}, 'Your avatar'), ...choices);
    this.portraits.show(offered, canvases);
  }

  /** The page of a peer, who takes part under this name whatever is asked for. */
  set peer(name: string) {
    for (const choice of this.choices) choice.hidden = true;
    this.about.textContent = `You take part as ${name}, in a world without a server. What touches, touches.`;
    this.go.focus({ preventScroll: true });
  }

  set isBusy(isBusy: boolean) {
    this.go.disabled = isBusy;
    this.go.textContent = isBusy ? 'Entering…' : 'Enter';
  }

  open(sentence = ''): void {
    this.root.hidden = false;
    this.isBusy = false;
    this.error.textContent = sentence;
    this.portraits.start();
    this.nickname.focus({ preventScroll: true });
    this.nickname.select();
  }

  close(): void {
    this.root.hidden = true;
    this.isBusy = false;
    this.portraits.stop();
  }
}
