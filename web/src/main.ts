// Starts the page. `?transport=websocket` and `?quality=low` are for those who want to know.

import { App } from './app.ts';
import { element } from './ui/element.ts';

const asked = new URLSearchParams(location.search);
const transport = asked.get('transport')?.toLowerCase();
const only = transport === 'websocket' ? 'WebSocket' : transport === 'webtransport' ? 'WebTransport' : null;
const [canvas, names, ui] = ['view', 'names', 'ui'].map((id) => document.getElementById(id)!);

try {
  const app = new App(canvas as HTMLCanvasElement, names!, ui!, asked.get('quality') === 'low' ? 'low' : 'high', only);
  // For tests, and for the curious.
  Object.assign(window, { kinesphere: app });
} catch (error) {
  const canDraw = (canvas as HTMLCanvasElement).getContext('webgl2') !== null;
  const why = canDraw ? `The page cannot start: ${String(error)}` : 'The world cannot be drawn: this browser has no WebGL 2, or it is turned off.';
  ui!.replaceChildren(element('section', { class: 'gate' }, element('p', { role: 'alert' }, why)));
  throw error;
}
