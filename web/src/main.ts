// Starts the page. `?transport=websocket`, `?quality=low` and `?quality=high` are for those who want to know.

import { App } from './app.ts';
import { element } from './ui/element.ts';
import { Pace } from './view/pace.ts';

const asked = new URLSearchParams(location.search);
const transport = asked.get('transport')?.toLowerCase();
const only = transport === 'websocket' ? 'WebSocket' : transport === 'webtransport' ? 'WebTransport' : null;
const [canvas, names, ui] = ['view', 'names', 'ui'].map((id) => document.getElementById(id)!);

try {
  const quality = asked.get('quality');
  // A quality that is asked for is used, however slow it is.
  const pace = quality === null ? new Pace() : null;
  const app = new App(canvas as HTMLCanvasElement, names!, ui!, quality === 'low' ? 'low' : 'high', only, pace);
  // For tests, and for the curious.
  Object.assign(window, { kinesphere: app });
} catch (error) {
  const canDraw = (canvas as HTMLCanvasElement).getContext('webgl2') !== null;
  const why = canDraw ? `The page cannot start: ${String(error)}`
    : 'The world cannot be drawn: this browser has no WebGL 2, or it is turned off.';
  ui!.replaceChildren(element('section', { class: 'gate' }, element('p', { role: 'alert' }, why)));
  throw error;
}
