// The first screen: the name of the world, one line on what this is, a nickname, an avatar, one big button.

import { AvatarPortraits } from '../view/portrait.ts';
import { element } from './element.ts';
import type { Settings } from './settings.ts';

export interface Entering {
  readonly nickname: string;
  readonly avatar: number;
  readonly token: string;
}

export class Dialog {
  readonly root: HTMLElement;
  private readonly nickname = element('input', { type: 'text', id: 'nickname', autocomplete: 'nickname', maxlength: '64', required: '' });
  private readonly token = element('input', { type: 'password', id: 'token', autocomplete: 'off', placeholder: 'only where a server asks for one' });
  private readonly error = element('p', { class: 'error', role: 'alert' });
  private readonly go = element('button', { class: 'go', type: 'submit' }, 'Enter');
  private readonly title = element('h1', {}, 'Kinesphere');
  private readonly about = element('p', {}, 'A place at dusk that you share with everybody who is here. What touches, touches.');
  /** What only a server lets one choose. */
  private readonly choices: HTMLElement[];
  private readonly portraits: AvatarPortraits;

  constructor(settings: Settings, isLively: boolean, onEnter: (entering: Entering) => void) {
    this.nickname.value = settings.nickname;
    const canvases = [0, 1].map(() => element('canvas', { width: '192', height: '192', 'aria-hidden': 'true' }));
    const choices = ['Walker', 'Child'].map((name, index) => {
      const radio = element('input', { type: 'radio', name: 'avatar', value: String(index) });
      radio.checked = index === settings.avatar;
      return element('label', { class: 'avatar' }, radio, canvases[index]!, name);
    });
    this.portraits = new AvatarPortraits(canvases, isLively);
    this.choices = [
      element('label', { for: 'nickname' }, 'Your name', this.nickname),
      element('fieldset', {}, element('legend', {}, 'Your avatar'), ...choices),
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
      const chosen = form.querySelector<HTMLInputElement>('input[name=avatar]:checked');
      this.error.textContent = '';
      this.isBusy = true;
      onEnter({ nickname: this.nickname.value, avatar: Number(chosen?.value ?? 0), token: this.token.value.trim() });
    });
    this.root = element('section', { id: 'enter' }, form);
  }

  /** The name of the world, as soon as it is known. */
  set world(name: string) {
    if (name === '') return;
    this.title.replaceChildren(element('small', {}, 'Kinesphere'), name);
    document.title = `${name}: Kinesphere`;
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
