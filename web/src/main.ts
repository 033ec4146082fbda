// Starts the page. `?transport=websocket` and `?quality=low` are for those who want to know.

import { App } from './app.ts';

const asked = new URLSearchParams(location.search);
const transport = asked.get('transport')?.toLowerCase();
const only = transport === 'websocket' ? 'WebSocket' : transport === 'webtransport' ? 'WebTransport' : null;
const [canvas, names, ui] = ['view', 'names', 'ui'].map((id) => document.getElementById(id)!);

const app = new App(canvas as HTMLCanvasElement, names!, ui!, asked.get('quality') === 'low' ? 'low' : 'high', only);
// For tests, and for the curious.
Object.assign(window, { kinesphere: app });
