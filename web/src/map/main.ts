// The operator's map: from above, thousands of dots, live and from the journal.

import { OperatorMap } from './map.ts';

const [canvas, ui] = ['map', 'ui'].map((id) => document.getElementById(id)!);
Object.assign(window, { map: new OperatorMap(canvas as HTMLCanvasElement, ui!) });
