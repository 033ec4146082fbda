// What is said.

import { element } from './element.ts';

const LINES_MAX = 60;
const FADE_MS = 14_000;

export class Chat {
  readonly root: HTMLElement;
  private readonly lines = element('ol', { 'aria-live': 'polite' });
  private readonly input =
    element('input', { type: 'text', maxlength: '300', placeholder: 'Say something to those who are near',
    'aria-label': 'Say something' });

  /** `onSay` tells whether it was said: if not, it is kept for another try. */
  constructor(onSay: (text: string) => boolean, private readonly onClose: () => void) {
    this.input.hidden = true;
    this.input.addEventListener('keydown', (event) => {
      event.stopPropagation();
      // Enter and Escape belong to an input method while it composes, as in Japanese.
      if (event.isComposing) return;
      if (event.key === 'Escape') this.close();
      if (event.key !== 'Enter') return;
      const text = this.input.value.trim();
      if (text === '' || onSay(text)) this.close();
    });
    // What was typed so far waits until it is opened again.
    this.input.addEventListener('blur', () => (this.input.hidden = true));
    this.root = element('section', { id: 'chat', 'aria-label': 'Chat' }, this.lines, this.input);
  }

  open(): void {
    this.input.hidden = false;
    this.input.focus();
  }

  private close(): void {
    if (this.input.hidden) return;
    this.input.value = '';
    this.input.hidden = true;
    this.onClose();
  }

  add(name: string, text: string): void {
    const line = name === '' ? element('li', { class: 'server' }, text)
      : element('li', {}, element('b', {}, name), text);
    this.lines.append(line);
    while (this.lines.children.length > LINES_MAX) this.lines.firstChild?.remove();
    setTimeout(() => line.remove(), FADE_MS);
  }
}
