// Plots of columns below the picture: one panel per unit, a cursor at the time shown, and a list to choose from.
const curves = {
  light: ['#0b6bcb', '#d9480f', '#2b8a3e', '#9c36b5', '#b08900', '#0c8599', '#c2255c', '#5c6370'],
  dark: ['#5aa9ff', '#ff8a50', '#69db7c', '#d88bea', '#ffd43b', '#3bc9db', '#ff7aa8', '#adb5bd'],
};

const element = (tag, props = {}, ...children) => {
  const e = Object.assign(document.createElement(tag), props);
  e.append(...children);
  return e;
};

// Ticks at whole multiples of 1, 2 or 5 times a power of ten, and how to write them.
const scaleOf = (least, most, count) => {
  const size = Math.max(Math.abs(least), Math.abs(most));
  if (most - least <= 1e-13 * size) {
    const half = size > 0 ? 0.5 * size : 0.5;
    least -= half;
    most += half;
  }
  const raw = (most - least) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5].find((f) => raw <= f * power) ?? 10), ticks = [];
  for (let k = Math.ceil(least / step - 1e-9); k * step <= most + 1e-9 * step; ++k) ticks.push(k * step);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const plain = size < 1e5 && digits <= 4;
  const text = (x) => (Math.abs(x) < 1e-9 * step ? '0' : plain ? x.toFixed(digits) : String(Number(x.toPrecision(Math.min(12, 1 + Math.max(1, Math.ceil(Math.log10(size / step))))))));
  return {least, most, ticks, text};
};

export const numeral = (x) => {
  const size = Math.abs(x);
  return size !== 0 && (size < 1e-3 || size >= 1e6) ? x.toExponential(3) : x.toFixed(size < 10 ? 4 : size < 1000 ? 3 : 1);
};

export class Plots {
  constructor(run, root, seek) {
    Object.assign(this, {run, root, seek, chosen: [...run.plots], panels: [], theme: 'light'});
    if (!this.chosen.length) this.chosen = this.usual();
    this.makeChooser();
    this.build();
    new ResizeObserver(() => this.redraw()).observe(root);
  }

  // Something to begin with: sensors, else angles, else the first coordinate; and energies.
  usual() {
    const names = this.run.columns.map((c) => c.name), found = (test, most) => names.map((_, i) => i).filter((i) => i > 0 && test(names[i])).slice(0, most);
    const sensors = this.run.sensors.map((s) => s.name);
    const some = [found((n) => sensors.includes(n.split('.')[0]) && !n.endsWith("'"), 3), found((n) => n.endsWith('.theta'), 3),
      found((n) => n.endsWith('.angle'), 3), found((n) => !n.endsWith("'"), 1)].find((list) => list.length) ?? [];
    return [...some, ...found((n) => /^(kinetic|potential|total|energy\.)/.test(n) && !n.endsWith("'"), 3)];
  }

  makeChooser() {
    const search = element('input', {type: 'search', placeholder: `find in ${this.run.columns.length - 1} columns`, ariaLabel: 'Find a column'});
    this.list = element('ul');
    search.addEventListener('input', () => this.fill(search.value));
    this.chooser = element('div', {className: 'plot chooser'}, search, this.list);
    this.fill('');
  }
  fill(text) {
    const most = 300, words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const found = this.run.columns.map((c, i) => [c, i]).filter(([c, i]) => i > 0 && words.every((w) => c.name.toLowerCase().includes(w)));
    found.sort(([, a], [, b]) => this.chosen.includes(b) - this.chosen.includes(a));
    this.list.replaceChildren(...found.slice(0, most).map(([c, i]) => {
      const box = element('input', {type: 'checkbox', checked: this.chosen.includes(i)});
      box.addEventListener('change', () => this.toggle(i, box.checked));
      return element('li', {}, element('label', {title: c.name}, box, c.name, element('span', {textContent: c.unit})));
    }));
    if (found.length > most) this.list.append(element('li', {className: 'quiet', textContent: `and ${found.length - most} more`}));
    if (this.run.left_out > 0) this.list.append(element('li', {className: 'quiet', textContent: `${this.run.left_out} columns of the run are not in this page`}));
  }
  toggle(column, on) {
    this.chosen = this.chosen.filter((c) => c !== column);
    if (on) this.chosen.push(column);
    this.build();
  }

  build() {
    const units = new Map();
    for (const c of this.chosen) {
      const {unit} = this.run.columns[c];
      if (!units.has(unit)) units.set(unit, []);
      units.get(unit).push(c);
    }
    this.panels = [...units].map(([unit, columns]) => {
      const canvas = element('canvas'), legend = element('div', {className: 'legend'});
      const panel = {unit, columns, canvas, values: []};
      for (const c of columns) {
        const value = element('em'), line = element('i'), remove = element('button', {type: 'button', textContent: '×', title: 'Remove', ariaLabel: `Remove ${this.run.columns[c].name}`});
        remove.addEventListener('click', () => { this.toggle(c, false); this.fill(''); });
        panel.values.push({value, line});
        legend.append(element('span', {}, line, this.run.columns[c].name, value, remove));
      }
      panel.root = element('div', {className: 'plot'}, legend, element('div', {className: 'area'}, canvas));
      const go = (e) => {
        const {left, right} = panel.area ?? {}, box = canvas.getBoundingClientRect();
        if (right > left) this.seek(this.run.start + (this.run.end - this.run.start) * Math.min(1, Math.max(0, (e.clientX - box.left - left) / (right - left))));
      };
      canvas.addEventListener('pointerdown', (e) => { canvas.setPointerCapture(e.pointerId); go(e); });
      canvas.addEventListener('pointermove', (e) => { if (e.buttons) go(e); });
      return panel;
    });
    const none = element('div', {className: 'plot none', textContent: 'Choose columns to plot'});
    this.root.replaceChildren(this.chooser, ...(this.panels.length ? this.panels.map((p) => p.root) : [none]));
    this.redraw();
  }

  setTheme(theme) {
    this.theme = theme;
    this.redraw();
  }

  redraw() {
    for (const panel of this.panels) this.drawCurves(panel);
    this.update();
  }

  drawCurves(panel) {
    const {canvas, columns} = panel, {clientWidth: w, clientHeight: h} = canvas, ratio = Math.min(window.devicePixelRatio, 2);
    if (!w || !h) return;
    const still = document.createElement('canvas');
    still.width = canvas.width = w * ratio;
    still.height = canvas.height = h * ratio;
    const c = still.getContext('2d'), style = getComputedStyle(document.documentElement), colour = (n) => style.getPropertyValue(n).trim();
    c.scale(ratio, ratio);
    let least = Infinity, most = -Infinity;
    for (const i of columns) for (const v of this.run.columns[i].values) {
      if (v < least) least = v;
      if (v > most) most = v;
    }
    const margin = 0.06 * (most - least), y = scaleOf(least - margin, most + margin, Math.max(2, h / 34));
    const x = scaleOf(this.run.start, this.run.end, Math.max(2, w / 90));
    c.font = '11px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
    const left = 16 + Math.max(...y.ticks.map((v) => c.measureText(y.text(v)).width)), right = w - 14, top = 18, bottom = h - 20;
    const px = (v) => left + ((right - left) * (v - x.least)) / (x.most - x.least), py = (v) => bottom - ((bottom - top) * (v - y.least)) / (y.most - y.least);
    Object.assign(panel, {still, ratio, area: {left, right, top, bottom}, px, py});
    c.lineWidth = 1;
    c.fillStyle = colour('--quiet');
    c.textBaseline = 'middle';
    c.textAlign = 'right';
    for (const v of y.ticks) {
      c.strokeStyle = colour('--line');
      c.beginPath();
      c.moveTo(left, Math.round(py(v)) + 0.5);
      c.lineTo(right, Math.round(py(v)) + 0.5);
      c.stroke();
      c.fillText(y.text(v), left - 6, py(v));
    }
    c.textBaseline = 'top';
    c.textAlign = 'center';
    for (const v of x.ticks) if (px(v) < right - 26 || v === x.ticks[0]) c.fillText(x.text(v), px(v), bottom + 5);
    c.textAlign = 'left';
    c.textBaseline = 'bottom';
    c.fillText(panel.unit || '1', left, top - 3);
    c.textAlign = 'right';
    c.textBaseline = 'top';
    c.fillText(`t [${this.run.columns[0].unit}]`, right, bottom + 5);
    c.save();
    c.beginPath();
    c.rect(left, top - 2, right - left, bottom - top + 4);
    c.clip();
    c.lineWidth = 1.6;
    c.lineJoin = 'round';
    columns.forEach((i, n) => {
      const {values} = this.run.columns[i], {times} = this.run;
      c.strokeStyle = curves[this.theme][n % 8];
      c.setLineDash(n < 8 ? [] : n < 16 ? [6, 3] : [2, 3]);
      panel.values[n].line.style.background = curves[this.theme][n % 8];
      c.beginPath();
      // The least and the greatest of each half pixel, so that long runs stay quick and nothing is lost.
      let pixel = NaN, low = 0, high = 0;
      const flush = (at) => { c.lineTo(at, py(low)); if (high !== low) c.lineTo(at, py(high)); };
      for (let k = 0; k < values.length; ++k) {
        const at = Math.round(px(times[k]) * 2) / 2;
        if (at !== pixel) {
          if (k > 0) flush(pixel);
          pixel = at;
          low = high = values[k];
        }
        low = Math.min(low, values[k]);
        high = Math.max(high, values[k]);
      }
      flush(pixel);
      c.stroke();
    });
    c.restore();
  }

  update() {
    const style = getComputedStyle(document.documentElement), t = this.run.value(0);
    for (const panel of this.panels) {
      if (!panel.still) continue;
      const c = panel.canvas.getContext('2d'), {ratio, area, px, py} = panel;
      c.setTransform(1, 0, 0, 1, 0, 0);
      c.clearRect(0, 0, panel.canvas.width, panel.canvas.height);
      c.drawImage(panel.still, 0, 0);
      c.scale(ratio, ratio);
      c.strokeStyle = style.getPropertyValue('--accent').trim();
      c.beginPath();
      c.moveTo(px(t), area.top - 2);
      c.lineTo(px(t), area.bottom);
      c.stroke();
      panel.columns.forEach((i, n) => {
        const v = this.run.value(i);
        panel.values[n].value.textContent = numeral(v);
        c.fillStyle = curves[this.theme][n % 8];
        c.beginPath();
        c.arc(px(t), py(v), 3, 0, 7);
        c.fill();
      });
    }
  }
}
