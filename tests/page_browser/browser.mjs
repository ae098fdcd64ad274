// A headless Chromium, driven through a pipe by its DevTools protocol: no packages needed.
import {spawn} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

export class Browser {
  constructor(program) {
    this.profile = mkdtempSync(join(tmpdir(), 'mortise_page_'));
    this.child = spawn(program, [
      '--headless=new', '--no-sandbox', '--remote-debugging-pipe', `--user-data-dir=${this.profile}`, '--use-gl=angle', '--use-angle=swiftshader',
      '--enable-unsafe-swiftshader', '--disable-dev-shm-usage', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync', '--disable-extensions', '--hide-scrollbars', '--force-device-scale-factor=1', '--mute-audio', 'about:blank',
    ], {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], detached: true});
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.once(signal, () => { this.close(); process.exit(1); });
    this.next = 0;
    this.waiting = new Map();
    this.listeners = new Set();
    this.gone = new Promise((_, fail) => {
      this.child.on('error', (e) => fail(new Error(`${program} cannot be started: ${e.message}`)));
      this.child.on('exit', (code) => fail(new Error(`${program} ended with ${code}`)));
    });
    this.gone.catch(() => {});
    let rest = '';
    this.child.stdio[4].setEncoding('utf8').on('data', (text) => {
      const messages = (rest + text).split('\0');
      rest = messages.pop();
      for (const message of messages.map((m) => JSON.parse(m))) this.receive(message);
    });
    this.child.stdio[3].on('error', () => {});
  }
  receive(message) {
    if (message.id === undefined) return this.listeners.forEach((l) => l(message));
    const {done, fail} = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.error) fail(new Error(message.error.message)); else done(message.result);
  }
  send(method, params = {}, sessionId) {
    const id = ++this.next, reply = new Promise((done, fail) => this.waiting.set(id, {done, fail}));
    this.child.stdio[3].write(JSON.stringify({id, method, params, sessionId}) + '\0');
    return Promise.race([reply, this.gone]);
  }

  // A tab with a page in it, of the given size and colour scheme.
  async open(url, {width = 1280, height = 800, dark = false} = {}) {
    const {targetId} = await this.send('Target.createTarget', {url: 'about:blank'});
    const {sessionId} = await this.send('Target.attachToTarget', {targetId, flatten: true});
    const tab = new Tab(this, sessionId, targetId);
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await tab.send(`${domain}.enable`);
    await tab.send('Emulation.setDeviceMetricsOverride', {width, height, deviceScaleFactor: 1, mobile: false});
    await tab.send('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value: dark ? 'dark' : 'light'}]});
    const loaded = tab.event('Page.loadEventFired');
    await tab.send('Page.navigate', {url});
    await loaded;
    return tab;
  }
  close() {
    try { process.kill(-this.child.pid, 'SIGKILL'); } catch { /* it has ended */ }
    rmSync(this.profile, {recursive: true, force: true, maxRetries: 5, retryDelay: 100});
  }
}

class Tab {
  constructor(browser, session, target) {
    Object.assign(this, {browser, session, target, complaints: [], requests: []});
    browser.listeners.add(({method, params, sessionId}) => {
      if (sessionId !== session) return;
      if (method === 'Runtime.exceptionThrown') this.complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
      if (method === 'Runtime.consoleAPICalled' && ['error', 'warning', 'assert'].includes(params.type)) this.complaints.push(params.args.map((a) => a.value ?? a.description).join(' '));
      if (method === 'Log.entryAdded' && ['error', 'warning'].includes(params.entry.level)) this.complaints.push(params.entry.text);
      if (method === 'Network.requestWillBeSent') this.requests.push(params.request.url);
    });
  }
  send(method, params) { return this.browser.send(method, params, this.session); }
  event(name) {
    return new Promise((done) => {
      const listen = ({method, params, sessionId}) => {
        if (sessionId !== this.session || method !== name) return;
        this.browser.listeners.delete(listen);
        done(params);
      };
      this.browser.listeners.add(listen);
    });
  }
  // The value of an expression in the page.
  async ask(expression) {
    const {result, exceptionDetails} = await this.send('Runtime.evaluate', {expression, returnByValue: true, awaitPromise: true});
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }
  async until(expression, seconds = 15) {
    for (const end = Date.now() + 1000 * seconds; Date.now() < end;) {
      if (await this.ask(expression)) return;
      await new Promise((done) => setTimeout(done, 40));
    }
    throw new Error(`not within ${seconds} s: ${expression}`);
  }
  async key(key, modifiers = 0) {
    const text = key.length === 1 ? key : undefined;
    for (const type of ['keyDown', 'keyUp']) await this.send('Input.dispatchKeyEvent', {type, key, modifiers, text: type === 'keyDown' ? text : undefined});
  }
  // Two frames later, so that what was asked for is drawn.
  async drawn() { await this.ask('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))'); }
  async screenshot(format = 'png') {
    const {data} = await this.send('Page.captureScreenshot', {format, quality: format === 'png' ? undefined : 88});
    return Buffer.from(data, 'base64');
  }
  close() { return this.browser.send('Target.closeTarget', {targetId: this.target}); }
}
