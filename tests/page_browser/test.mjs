// Shows pages in a real browser:  node test.mjs <chromium> <folder with pages and CSV files of showcases> [folder for pictures]
// Ends with 1 and says what is wrong, or with 0.
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {inflateSync} from 'node:zlib';
import {Browser} from './browser.mjs';

const [program, folder, pictures] = process.argv.slice(2);
let checks = 0;
const check = (ok, what) => {
  ++checks;
  if (!ok) throw new Error(what);
};

// A run as the CSV file has it.
const readCsv = (name) => {
  const [head, ...lines] = readFileSync(join(folder, `${name}.csv`), 'utf8').trim().split('\n');
  const names = head.split(',').map((c) => c.replace(/ \[.*\]$/, ''));
  const rows = lines.map((l) => l.split(',').map(Number));
  return {rows, value: (k, column) => rows[k][names.indexOf(column)]};
};

// The pixels of a PNG of 8 bits per channel, as the browser writes them.
const pixelsOf = (png) => {
  let at = 8, width, height, channels, data = [];
  while (at < png.length) {
    const size = png.readUInt32BE(at), type = png.toString('latin1', at + 4, at + 8), body = png.subarray(at + 8, at + 8 + size);
    if (type === 'IHDR') [width, height, channels] = [body.readUInt32BE(0), body.readUInt32BE(4), body[9] === 6 ? 4 : 3];
    if (type === 'IDAT') data.push(body);
    at += 12 + size;
  }
  const raw = inflateSync(Buffer.concat(data)), line = width * channels, out = Buffer.alloc(line * height);
  const paeth = (a, b, c) => {
    const p = a + b - c, [x, y, z] = [Math.abs(p - a), Math.abs(p - b), Math.abs(p - c)];
    return x <= y && x <= z ? a : y <= z ? b : c;
  };
  for (let y = 0; y < height; ++y)
    for (let i = 0, filter = raw[y * (line + 1)]; i < line; ++i) {
      const a = i >= channels ? out[y * line + i - channels] : 0, b = y ? out[(y - 1) * line + i] : 0;
      const c = i >= channels && y ? out[(y - 1) * line + i - channels] : 0;
      out[y * line + i] = raw[y * (line + 1) + 1 + i] + [0, a, b, (a + b) >> 1, paeth(a, b, c)][filter];
    }
  return {width, height, at: (x, y) => out.subarray(y * line + x * channels, y * line + x * channels + 3)};
};
// How many pixels of the stage are strongly coloured: the sky, the grid and joints are grey.
const coloured = (image, {left, top, right, bottom}) => {
  let count = 0;
  for (let y = Math.ceil(top); y < bottom; ++y)
    for (let x = Math.ceil(left); x < right; ++x) {
      const p = image.at(x, y);
      if (Math.max(...p) - Math.min(...p) > 50) ++count;
    }
  return count;
};
const brightness = (image, x, y) => image.at(x, y).reduce((sum, c) => sum + c / 3, 0);

const browser = new Browser(program);
const size = pictures ? {} : {width: 760, height: 560};  // drawn by software: small is quick
const stageBox = "(() => { const b = document.getElementById('stage').getBoundingClientRect(); return {left: b.left, top: b.top, right: b.right, bottom: b.bottom}; })()";

const looksRight = async (tab, name, dark) => {
  await tab.drawn();
  const png = await tab.screenshot(), image = pixelsOf(png), box = await tab.ask(stageBox);
  if (pictures) {
    mkdirSync(pictures, {recursive: true});
    const t = await tab.ask('mortise.state.time.toFixed(2)');
    writeFileSync(join(pictures, `${name}_${dark ? 'dark' : 'light'}_${t}.png`), png);
  }
  const count = coloured(image, box);
  check(count > 1000, `${name}: only ${count} coloured pixels in the picture of the mechanism`);
  // The list of parts, and the sky behind the mechanism, which is never black.
  const panel = brightness(image, image.width - 4, image.height >> 1), sky = brightness(image, Math.floor(box.right) - 6, Math.ceil(box.top) + 6);
  check(dark ? panel < 70 : panel > 200, `${name}: brightness ${panel} of the panel for ${dark ? 'dark' : 'light'}`);
  check(dark ? sky > 8 && sky < 90 : sky > 200, `${name}: brightness ${sky} of the sky for ${dark ? 'dark' : 'light'}`);
  return png;
};

// Bodies stand where the CSV says, at samples: positions to 1e-6, turns too.
const standsRight = async (tab, run, name, bodies) => {
  const last = run.rows.length - 1;
  for (const k of [0, Math.floor(last / 3), Math.floor(last / 2), last]) {
    await tab.ask(`(() => { const s = document.getElementById('scrub'); s.value = ${run.value(k, 't')}; s.dispatchEvent(new Event('input')); })()`);
    for (const [body, kind] of bodies) {
      const {position, turn} = await tab.ask(`mortise.pose(${JSON.stringify(body)})`);
      const axes = kind === 'planar' ? ['x', 'y'] : ['x', 'y', 'z'].slice(0, kind === 'point2' ? 2 : 3);
      axes.forEach((axis, i) => {
        const want = run.value(k, `${body}.${axis}`);
        check(Math.abs(position[i] - want) <= 1e-6, `${name}: ${body}.${axis} is drawn at ${position[i]} at sample ${k}; the run has ${want}`);
      });
      if (kind === 'planar') {
        const half = run.value(k, `${body}.theta`) / 2;
        check(Math.abs(turn[2] - Math.sin(half)) + Math.abs(turn[3] - Math.cos(half)) <= 1e-6, `${name}: ${body} is turned wrongly at sample ${k}`);
      }
      if (kind === 'rigid') {
        const u = ['u1', 'u2', 'u3', 'u0'].map((c) => run.value(k, `${body}.${c}`));
        check(u.every((x, i) => Math.abs(turn[i] - x) <= 1e-6), `${name}: ${body} is turned wrongly at sample ${k}`);
      }
    }
  }
};

const cases = {
  pendulum: [['rod', 'planar'], ['tip', 'point2']],
  bricard: [['rod1', 'rigid'], ['rod3', 'rigid'], ['rod5', 'rigid']],
  vehicle: [['chassis', 'rigid'], ['front_left/hub', 'point']],
};

const test = async () => {
  for (const [name, bodies] of Object.entries(cases)) {
    const run = readCsv(name), dark = name === 'bricard', url = pathToFileURL(join(folder, `${name}.html`)).href;
    const tab = await browser.open(url, {dark, ...size});
    await tab.until('window.mortise?.frames > 1', 120);
    const first = await looksRight(tab, name, dark);
    await standsRight(tab, run, name, bodies);

    // Between two samples a point lies between them.
    const [a, b] = [run.value(10, 't'), run.value(11, 't')], [body] = bodies[0];
    await tab.ask(`mortise.goTo(${(a + b) / 2})`);
    const between = (await tab.ask(`mortise.pose('${body}')`)).position[0], want = (run.value(10, `${body}.x`) + run.value(11, `${body}.x`)) / 2;
    check(Math.abs(between - want) <= 1e-6, `${name}: between samples ${body}.x is ${between}, not ${want}`);

    // Keys: steps, play, pause, end.
    await tab.key('Home');
    await tab.key('ArrowRight');
    check(Math.abs((await tab.ask('mortise.state.time')) - run.value(1, 't')) < 1e-12, `${name}: the right arrow does not go to the next sample`);
    await tab.key(' ');
    const from = await tab.ask('mortise.state.time');
    await tab.until(`mortise.state.time > ${from + 0.05}`, 120);
    await tab.key(' ');
    const stopped = await tab.ask('mortise.state.time');
    await tab.drawn();
    check((await tab.ask('mortise.state.time')) === stopped, `${name}: it does not pause`);
    const clock = await tab.ask("document.getElementById('clock').textContent");
    check(clock.startsWith(stopped.toFixed(3)), `${name}: the clock says ${clock} at ${stopped}`);
    await tab.key('End');
    check((await tab.ask('mortise.state.time')) === run.value(run.rows.length - 1, 't'), `${name}: End does not go to the end`);

    // Follow, zoom, the other theme, help.
    const distance = 'mortise.stage.camera.position.distanceTo(mortise.stage.controls.target)', far = await tab.ask(distance);
    await tab.key('+');
    check((await tab.ask(distance)) < 0.9 * far, `${name}: + does not zoom`);
    await tab.key('r');
    await tab.key('f');
    check((await tab.ask('mortise.stage.followed !== null')) === true, `${name}: F does not follow a body`);
    await tab.key('Escape');
    await tab.key('d');
    const other = await looksRight(tab, name, !dark);
    check(!other.equals(first), `${name}: the picture at the end is the one of the start`);
    await tab.key('?');
    check(await tab.ask("document.getElementById('keys').open && document.getElementById('keys').textContent.includes('The MIT License')"), `${name}: no help with the licence`);

    const plots = await tab.ask("document.querySelectorAll('.plot canvas').length");
    check(plots >= 2, `${name}: ${plots} plots`);
    check(tab.complaints.length === 0, `${name}: the browser complains: ${tab.complaints.join(' | ')}`);
    check(tab.requests.every((r) => r === url), `${name}: it asks for ${tab.requests.filter((r) => r !== url)}`);
    await tab.close();
  }

  // Every kind of joint and force of the catalogue can be drawn, with points and axes or without.
  const page = readFileSync(join(folder, 'bricard.html'), 'utf8'), from = page.indexOf('id="data">') + 10, to = page.indexOf('</script>', from);
  const data = JSON.parse(page.slice(from, to)), catalogue = readFileSync(new URL('../../docs/CATALOGUE.md', import.meta.url), 'utf8');
  const kinds = (title) => [...catalogue.split(/^## /m).find((s) => s.startsWith(title)).matchAll(/^### (\w+)/gm)].map((m) => m[1]);
  const parts = (title) => kinds(title).flatMap((kind, i) => [{points: [], axes: []}, {
    points: [{body: 1, at: [0.1 * i - 1, 0, 0.5]}, {body: 1, at: [0.1 * i - 1, 0, 0.8]}], axes: [{body: 1, along: [0, 1, 0]}, {body: 1, along: [1, 0, 0]}],
  }].map((marks, n) => ({name: `${kind}_${n}`, kind, bodies: [0, 1], numbers: {}, ...marks})));
  Object.assign(data, {joints: parts('Joints'), forces: parts('Forces'), sensors: parts('Sensors'), highlights: []});
  check(data.joints.length > 60 && data.forces.length > 10, `the catalogue has only ${data.joints.length / 2} joints`);
  const zoo = join(folder, 'zoo.html');
  writeFileSync(zoo, page.slice(0, from) + JSON.stringify(data).replaceAll('<', '\\u003c') + page.slice(to));
  const all = await browser.open(pathToFileURL(zoo).href, size);
  await all.until('window.mortise?.frames > 1', 120);
  await looksRight(all, 'zoo', false);
  check(all.complaints.length === 0, `zoo: the browser complains: ${all.complaints.join(' | ')}`);
  await all.close();

  // On a telephone nothing is beside the screen.
  const small = await browser.open(pathToFileURL(join(folder, 'pendulum.html')).href, {width: 400, height: 700});
  await small.until('window.mortise?.frames > 1', 120);
  for (const id of ['stage', 'verdict', 'help', 'dock', 'scrub']) {
    const right = await small.ask(`document.getElementById('${id}').getBoundingClientRect().right`);
    check(right > 0 && right <= 400, `${id} reaches to ${right} of 400 pixels`);
  }
  check(await small.ask("document.getElementById('side').hidden"), 'the list of parts covers the mechanism of a small page');
  await small.close();

  // A report with a free direction, standing still: its text, and a ghost that moves.
  const tab = await browser.open(pathToFileURL(join(folder, 'unfinished.html')).href, size);
  await tab.until('window.mortise?.frames > 1', 120);
  await looksRight(tab, 'unfinished', false);
  check((await tab.ask("document.querySelector('.callout.free').textContent")).includes('rod turns about the point (0, 0)'), 'unfinished: no text at the free direction');
  const ghost = 'mortise.stage.ghosts[0].group.quaternion.z', before = await tab.ask(ghost);
  await tab.until(`Math.abs(${ghost} - ${before}) > 1e-3`, 120);
  check(tab.complaints.length === 0, `unfinished: the browser complains: ${tab.complaints.join(' | ')}`);
  await tab.close();
};

const limit = setTimeout(() => { console.error('not done within 400 s'); browser.close(); process.exit(1); }, 400000);
try {
  await test();
  console.log(`${checks} checks passed`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  clearTimeout(limit);
  browser.close();
}
process.exit();
