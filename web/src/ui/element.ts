// Makes elements, and nothing else.

type Children = readonly (Node | string)[];

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: Children
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** A colour as stylesheets write it. */
export const css = (colour: number): string => `#${colour.toString(16).padStart(6, '0')}`;
