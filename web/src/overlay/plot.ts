// Small live plots: a line, or bands that are stacked, over the last minute.

import { css, element } from '../ui/element.ts';

const POINTS_MAX = 120;

export class Plot {
  readonly root: HTMLElement;
  private readonly canvas = element('canvas', { width: '540', height: '92' });
  private readonly value = element('b');
  private readonly rows: number[][] = [];

  constructor(name: string, private readonly unit: string, private readonly colours: readonly number[]) {
    this.root = element('figure', {}, element('figcaption', {}, name, this.value), this.canvas);
  }

  /** One more moment: what is stacked, from below. */
  push(values: readonly number[]): void {
    this.rows.push([...values]);
    if (this.rows.length > POINTS_MAX) this.rows.shift();
    const total = values.reduce((sum, value) => sum + value, 0);
    this.value.textContent = `${total >= 100 ? total.toFixed(0) : total.toFixed(2)} ${this.unit}`;
    this.draw();
  }

  private draw(): void {
    const context = this.canvas.getContext('2d');
    if (context === null) return;
    const { width, height } = this.canvas;
    context.clearRect(0, 0, width, height);
    const most = Math.max(1e-9, ...this.rows.map((row) => row.reduce((sum, value) => sum + value, 0))) * 1.1;
    const x = (index: number) => width - ((this.rows.length - 1 - index) * width) / (POINTS_MAX - 1);
    const base = this.rows.map(() => 0);
    this.colours.forEach((colour, band) => {
      const top = this.rows.map((row, index) => base[index]! + (row[band] ?? 0));
      context.beginPath();
      top.forEach((value, index) => context.lineTo(x(index), height - 2 - (value / most) * (height - 6)));
      if (this.colours.length > 1) {
        for (let index = base.length - 1; index >= 0; index--) context.lineTo(x(index),
          height - 2 - (base[index]! / most) * (height - 6));
        context.fillStyle = `${css(colour)}b0`;
        context.fill();
      } else {
        context.strokeStyle = css(colour);
        context.lineWidth = 2.5;
        context.stroke();
      }
      top.forEach((value, index) => (base[index] = value));
    });
  }
}
