// Who is here: oneself, and whoever is heard.

import { hueOf } from '../view/palette.ts';
import { css, element } from './element.ts';

const SHOWN_MAX = 100;

export class Users {
  readonly root: HTMLElement;
  private readonly list = element('ul');
  private readonly title = element('h2');
  private told = '';

  constructor() {
    this.root = element('aside', { id: 'users', class: 'panel', 'aria-label': 'Who is here' }, this.title, this.list);
  }

  show(users: readonly { object: number; name: string }[]): void {
    const told = JSON.stringify(users);
    if (told === this.told) return;
    this.told = told;
    this.title.textContent = users.length === 1 ? 'You are alone within earshot' : `${users.length} within earshot`;
    const rows = users.slice(0, SHOWN_MAX).map(({ object, name }) => {
      const dot = element('span', { class: 'dot' });
      dot.style.background = css(hueOf(object));
      return element('li', {}, dot, name);
    });
    this.list.replaceChildren(...rows);
  }
}
