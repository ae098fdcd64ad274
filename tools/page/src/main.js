// The page: reads its data, plays the run, and listens to buttons and keys.
import {Plots} from './plots.js';
import {Run} from './run.js';
import {Stage} from './stage.js';

const $ = (id) => document.getElementById(id);
const element = (tag, props = {}, ...children) => {
  const e = Object.assign(document.createElement(tag), props);
  e.append(...children);
  return e;
};

const start = (run) => {
  // The theme is that of the reader's system until another is chosen.
  const system = window.matchMedia('(prefers-color-scheme: dark)');
  let theme = system.matches ? 'dark' : 'light';
  const stage = new Stage(run, $('canvas'), $('labels'), theme);
  const speeds = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8];
  const state = {playing: false, time: run.start, speed: 1, loop: true};
  const still = !(run.end > run.start);

  // Time.
  const show = () => {
    run.goTo(state.time);
    stage.update();
    plots.update();
    $('scrub').value = state.time;
    const digits = run.end - run.start < 1 ? 4 : 3;
    $('clock').textContent = `${state.time.toFixed(digits)} / ${run.end.toFixed(digits)} s`;
  };
  const goTo = (t) => {
    state.time = Math.min(run.end, Math.max(run.start, t));
    show();
  };
  const play = (on) => {
    state.playing = on && !still;
    if (state.playing && state.time >= run.end) state.time = run.start;
    $('play_icon').setAttribute('d', state.playing ? 'M6 4.5h4.4v15H6zM13.6 4.5H18v15h-4.4z' : 'M7 4.5v15l13-7.5z');
    $('play').setAttribute('aria-label', state.playing ? 'Pause' : 'Play');
  };
  const step = (samples) => {
    play(false);
    const {k, f} = run.locate(state.time), to = k + samples + (f > 0 && samples < 0 ? 1 : 0);
    goTo(run.times[Math.min(run.times.length - 1, Math.max(0, to))]);
  };
  const setSpeed = (speed) => {
    state.speed = speed;
    $('speed').value = String(speed);
  };
  const plots = new Plots(run, $('plots'), (t) => goTo(t));

  const setTheme = (name) => {
    const chosen = stage.chosen && nameOf(stage.chosen), followed = stage.followed && nameOf(stage.followed);
    if (name !== theme) stage.build(name);
    theme = name;
    document.documentElement.dataset.theme = name;
    stage.followed = followed ? partNamed(followed) : null;
    plots.setTheme(name);
    fillSide();
    choose(chosen ? partNamed(chosen) : null);
    show();
  };
  const nameOf = (made) => made.body?.name ?? made.part.name;
  const partNamed = (name) => stage.bodies.find((b) => b.body.name === name) ?? stage.parts.find((p) => p.part.name === name) ?? null;

  // Choosing and following.
  const choose = (made) => {
    stage.choose(made);
    for (const li of $('side').querySelectorAll('li[data-name]')) li.classList.toggle('chosen', made !== null && li.dataset.name === nameOf(made));
  };
  const follow = (made) => {
    stage.followed = made;
    $('following').hidden = !made;
    if (made) {
      $('following').textContent = `following ${nameOf(made)} — F for the next, Esc to stop`;
      const way = stage.middle(made).sub(stage.controls.target);
      stage.controls.target.add(way);
      stage.camera.position.add(way);
      stage.controls.update();
    }
    stage.dirty = true;
  };
  const followNext = () => {
    const list = stage.bodies.filter((b) => ['point', 'planar', 'rigid'].includes(b.body.motion));
    if (!list.length) return;
    const next = stage.followed ? list[list.indexOf(stage.followed) + 1] ?? null : stage.chosen?.body ? stage.chosen : list[0];
    follow(next);
    choose(next);
  };

  // The list of parts, the report, and what is shown.
  const words = (kind) => kind.replaceAll('_', ' ');
  const item = (made, name, kind, colour, outline) => {
    const mark = element('i', {className: outline ? 'outline' : ''});
    mark.style.background = mark.style.borderColor = colour;
    const li = element('li', {tabIndex: 0, title: `${name}: click to choose, double-click to follow`}, mark,
      element('span', {className: 'name', textContent: name}), element('span', {className: 'kind', textContent: kind}));
    li.dataset.name = name;
    li.addEventListener('click', () => choose(stage.chosen === made ? null : made));
    li.addEventListener('dblclick', () => follow(made));
    li.addEventListener('keydown', (e) => { if (e.key === 'Enter') choose(made); });
    return li;
  };
  const section = (title, parts, make) => {
    const most = 400;
    if (!parts.length) return [];
    const list = element('ul', {}, ...parts.slice(0, most).map(make));
    if (parts.length > most) list.append(element('li', {className: 'quiet', textContent: `and ${parts.length - most} more`}));
    return [element('h2', {}, title, element('span', {textContent: parts.length})), list];
  };
  const switches = [['joints', 'Joints', 'J'], ['forces', 'Forces', 'K'], ['names', 'Names', 'N'], ['trails', 'Trails', 'T'], ['grid', 'Grid', 'B'], ['findings', 'Findings', 'H']];
  const toggle = (key) => {
    stage.show[key] = !stage.show[key];
    const box = $(`show_${key}`);
    if (box) box.checked = stage.show[key];
    if (key === 'trails') choose(stage.chosen);
    if (key === 'findings' && !stage.show.findings) stage.moveGhosts(0);
    stage.update();
  };
  const fillSide = () => {
    const side = $('side'), top = side.scrollTop;
    const findings = stage.findings.map((f) => {
      const box = element('div', {className: `finding ${f.h.kind}`, tabIndex: 0}, element('b', {textContent: f.h.kind === 'free' ? 'free direction' : f.h.kind === 'remark' ? 'remark' : `${f.h.kind} row`}), f.h.text);
      const part = f.bodies[0] ?? f.joints[0];
      if (part) box.addEventListener('click', () => choose(part));
      return box;
    });
    const report = run.report ? [element('h2', {}, 'Report'), ...findings,
      element('details', {open: !findings.length}, element('summary', {textContent: 'whole text'}), element('pre', {textContent: run.report}))] : findings;
    const boxes = switches.map(([key, text, letter]) => {
      const box = element('input', {type: 'checkbox', id: `show_${key}`, checked: stage.show[key]});
      box.addEventListener('change', () => toggle(key));
      return element('label', {title: `key ${letter}`}, box, text);
    });
    // One joint at a time, from where the run begins.
    const sliders = run.sliders.filter((s) => s.positions.length > 1).map((s) => {
      const {positions} = s, value = element('output');
      const input = element('input', {type: 'range', min: positions[0], max: positions[positions.length - 1], step: 'any'});
      const home = Math.min(input.max, Math.max(input.min, s.start));
      input.setAttribute('aria-label', s.joint);
      input.dataset.joint = s.joint;
      const told = (x) => { value.textContent = `${x.toFixed(3)} ${s.unit}`; };
      const reset = () => { input.value = home; told(home); };
      reset();
      input.addEventListener('input', () => {
        play(false);
        goTo(run.start);
        for (const other of sliders) if (other.input !== input) other.reset();
        run.move(s, Number(input.value));
        told(Number(input.value));
        stage.update();
      });
      return {input, reset, row: element('label', {className: 'slider', title: s.joint}, element('span', {className: 'name', textContent: s.joint}), input, value)};
    });
    const mass = (m) => (m > 0 ? `${Number(m.toPrecision(4))} kg` : 'no mass');
    side.replaceChildren(...report,
      element('h2', {}, 'Show'), element('div', {className: 'switches'}, ...boxes),
      ...(sliders.length ? [element('h2', {}, 'Move a joint', element('span', {textContent: sliders.length})), element('div', {className: 'sliders'}, ...sliders.map((s) => s.row))] : []),
      ...section('Bodies', stage.bodies, (b) => item(b, b.body.name, b.body.motion === 'fixed' ? 'ground' : b.body.motion === 'unknown' ? 'not drawn' : mass(b.body.mass), b.colour, b.body.motion !== 'fixed' && !(b.body.mass > 0))),
      ...section('Joints', stage.parts.filter((p) => p.group === 'joints'), (p) => item(p, p.part.name, words(p.part.kind), `#${p.materials[0].color.getHexString()}`)),
      ...section('Forces', stage.parts.filter((p) => p.group === 'forces'), (p) => item(p, p.part.name, words(p.part.kind), stage.look.force)),
      ...section('Sensors', stage.parts.filter((p) => p.group === 'sensors'), (p) => item(p, p.part.name, words(p.part.kind), stage.look.force)));
    side.scrollTop = top;
  };

  // Buttons.
  const switchPanel = (id, button) => {
    const box = $(id);
    box.hidden = !box.hidden;
    $(button).setAttribute('aria-pressed', String(!box.hidden));
    if (!box.hidden && id === 'plots') plots.redraw();
  };
  $('title').textContent = run.title;
  Object.assign($('source'), {textContent: run.source === run.title ? '' : run.source.split('/').pop(), title: run.source});
  if (run.verdict) {
    const worst = ['conflicting', 'free', 'redundant', 'remark'].find((k) => run.highlights.some((h) => h.kind === k));
    Object.assign($('verdict'), {hidden: false, textContent: run.verdict, title: run.verdict, className: `chip ${worst ?? 'good'}`});
  }
  $('scrub').min = run.start;
  $('scrub').max = run.end;
  $('scrub').addEventListener('input', (e) => goTo(Number(e.target.value)));
  $('play').addEventListener('click', () => play(!state.playing));
  $('first').addEventListener('click', () => goTo(run.start));
  $('loop').addEventListener('click', (e) => {
    state.loop = !state.loop;
    e.currentTarget.setAttribute('aria-pressed', String(state.loop));
  });
  $('speed').append(...speeds.map((s) => element('option', {value: String(s), textContent: `${s} ×`})));
  $('speed').addEventListener('change', (e) => setSpeed(Number(e.target.value)));
  $('reset').addEventListener('click', () => { follow(null); stage.frame(); });
  $('theme').addEventListener('click', () => setTheme(theme === 'dark' ? 'light' : 'dark'));
  $('panel').addEventListener('click', () => switchPanel('side', 'panel'));
  $('dock').addEventListener('click', () => switchPanel('plots', 'dock'));
  $('help').addEventListener('click', () => $('keys').showModal());
  $('verdict').addEventListener('click', () => { $('side').hidden = false; $('side').scrollTop = 0; });
  if (still) for (const id of ['play', 'first', 'loop', 'scrub', 'speed']) $(id).disabled = true;
  if (still) switchPanel('plots', 'dock');
  if (innerWidth <= 720) switchPanel('side', 'panel');  // it would cover the mechanism

  // Keys.
  const keys = [
    ['Space', 'play or pause', ' ', () => play(!state.playing)],
    ['← →', 'one sample back or on; with Shift ten', null],
    ['↑ ↓', 'faster, slower', null],
    ['Home End', 'to the start, to the end', null],
    ['Ctrl + arrows', 'turn', null],
    ['+ −', 'zoom', null],
    ['R', 'whole view', 'r', () => { follow(null); stage.frame(); }],
    ['F', 'follow the chosen body, or the next', 'f', followNext],
    ['J K N T B H', 'joints, forces, names, trails, grid, findings', null],
    ['G P', 'plots, parts and report', null],
    ['D', 'light or dark', 'd', () => setTheme(theme === 'dark' ? 'light' : 'dark')],
    ['Esc', 'choose and follow nothing', 'Escape', () => { follow(null); choose(null); }],
    ['?', 'these keys', '?', () => $('keys').showModal()],
  ];
  $('key_list').append(...keys.flatMap(([name, text]) => [element('dt', {}, ...name.split(' ').flatMap((k, i) => [i ? ' ' : '', /^(\+|with)$/.test(k) && name.startsWith('Ctrl') ? k : element('kbd', {textContent: k})])), element('dd', {textContent: text})]));
  const actions = Object.fromEntries(keys.filter((k) => k[2]).map(([, , key, action]) => [key, action]));
  Object.assign(actions, {
    Home: () => goTo(run.start), End: () => goTo(run.end), '+': () => stage.zoom(0.85), '=': () => stage.zoom(0.85), '-': () => stage.zoom(1 / 0.85),
    g: () => switchPanel('plots', 'dock'), p: () => switchPanel('side', 'panel'),
  });
  for (const [key, , letter] of switches) actions[letter.toLowerCase()] = () => toggle(key);
  const faster = (by) => setSpeed(speeds[Math.min(speeds.length - 1, Math.max(0, speeds.indexOf(state.speed) + by))]);
  window.addEventListener('keydown', (e) => {
    const {target} = e, typing = target.matches?.('input[type=search], select, textarea') || $('keys').open;
    if (typing || e.altKey || e.metaKey) return;
    const arrow = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[e.key];
    if (arrow && e.ctrlKey) stage.turn(-0.12 * arrow[0], 0.12 * arrow[1]);
    else if (arrow && arrow[0]) step(arrow[0] * (e.shiftKey ? 10 : 1));
    else if (arrow) faster(arrow[1]);
    else if (e.ctrlKey || (e.key === ' ' && target.matches?.('button, summary, input[type=checkbox]') && target.id !== 'play')) return;
    else if (actions[e.key] ?? actions[e.key.toLowerCase()]) (actions[e.key] ?? actions[e.key.toLowerCase()])();
    else return;
    e.preventDefault();
  });

  // The pointer.
  const canvas = $('canvas');
  let down = null;
  canvas.addEventListener('pointerdown', (e) => { down = [e.clientX, e.clientY]; $('tip').hidden = true; });
  canvas.addEventListener('pointerup', (e) => {
    if (down && Math.hypot(e.clientX - down[0], e.clientY - down[1]) < 4) choose(stage.pick(e.clientX, e.clientY));
    down = null;
  });
  canvas.addEventListener('dblclick', (e) => {
    const made = stage.pick(e.clientX, e.clientY);
    if (made) follow(made);
  });
  canvas.addEventListener('pointermove', (e) => {
    if (e.buttons) return;
    const made = stage.pick(e.clientX, e.clientY), tip = $('tip');
    tip.hidden = !made;
    if (!made) return;
    const kind = words(made.body?.kind ?? made.part.kind);
    tip.textContent = made.body && made.body.motion !== 'fixed' ? `${made.body.name} · ${kind} · ${made.body.mass > 0 ? `${Number(made.body.mass.toPrecision(4))} kg` : 'no mass'}` : `${nameOf(made)} · ${kind}`;
    const box = canvas.getBoundingClientRect();
    tip.style.left = `${Math.min(e.clientX - box.left + 14, box.width - tip.offsetWidth - 6)}px`;
    tip.style.top = `${Math.min(e.clientY - box.top + 16, box.height - tip.offsetHeight - 6)}px`;
  });
  canvas.addEventListener('pointerleave', () => { $('tip').hidden = true; });

  let last = performance.now();
  const tick = (now) => {
    const passed = Math.min(0.1, (now - last) / 1000);
    last = now;
    if (state.playing) {
      state.time += passed * state.speed;
      if (state.time > run.end) {
        if (state.loop) state.time = run.start + ((state.time - run.start) % (run.end - run.start));
        else goTo(run.end), play(false);
      }
      show();
    }
    stage.draw(now / 1000);
    window.mortise.frames += 1;
    requestAnimationFrame(tick);
  };

  // A speed at which the run takes between a few seconds and a minute.
  const wanted = (run.end - run.start) / 10;
  setSpeed(wanted < 0.3 ? speeds.filter((s) => s <= Math.max(0.05, wanted * 2.5)).pop() : wanted > 6 ? speeds.find((s) => s >= wanted / 3) ?? 8 : 1);

  // For scripts and tests.
  window.mortise = {
    run, stage, state, goTo, play, setTheme, follow: (name) => follow(partNamed(name)), choose: (name) => choose(partNamed(name)), frames: 0,
    // Where the picture of a body is, as it is drawn now.
    pose: (name) => {
      const {group} = stage.bodies.find((b) => b.body.name === name);
      return {position: group.position.toArray(), turn: group.quaternion.toArray()};
    },
  };
  stage.resize();
  setTheme(theme);
  system.addEventListener('change', (e) => setTheme(e.matches ? 'dark' : 'light'));
  stage.frame();
  goTo(run.start);
  requestAnimationFrame(tick);
};

try {
  start(new Run(JSON.parse($('data').textContent)));
} catch (error) {
  $('stage').replaceChildren(element('p', {className: 'chip conflicting', textContent: `This page cannot be shown: ${error.message}`}));
  throw error;
}
