// The list of users: the own one, and those that are heard.

import type { Others } from '../client/others.ts';
import { hueOf } from '../view/palette.ts';
import type { Welcome } from '../wire/to_client.ts';
import { css, element } from './element.ts';

const SHOWN_MAX = 100;
const byName = new Intl.Collator();

export class Users {
  readonly root: HTMLElement;
  private readonly list = element('ul');
  private readonly title = element('h2');
  private told: { others: Others; changes: number } | null = null;

  constructor() {
    this.root = element('aside', { id: 'users', class: 'panel', 'aria-label': 'Who is here' }, this.title, this.list);
  }

  /** Shows the users by name; does nothing while none comes or goes. */
  show({ own, nickname }: Welcome, others: Others): void {
    if (this.told?.others === others && this.told.changes === others.changes) return;
    this.told = { others, changes: others.changes };
    const named = [...others.all.values()].map(({ entered }) => entered)
      .filter(({ kind, name }) => kind === 'Avatar' && name !== '');
    named.sort((a, b) => byName.compare(a.name, b.name));
    this.title.textContent = named.length === 0 ? 'You are alone within earshot' : `${named.length + 1} within earshot`;
    const users = [{ object: own, name: `${nickname} (you)` }, ...named];
    const rows = users.slice(0, SHOWN_MAX).map(({ object, name }) => {
      const dot = element('span', { class: 'dot' });
      dot.style.background = css(hueOf(object));
      return element('li', {}, dot, name);
    });
    this.list.replaceChildren(...rows);
  }
}
