// A picture of a page:  node screenshot.mjs page.html out.png|webp [light|dark] [time in s]
import {writeFileSync} from 'node:fs';
import {resolve} from 'node:path';
import {pathToFileURL} from 'node:url';
import {Browser} from './browser.mjs';

const [page, out, theme = 'light', time] = process.argv.slice(2);
if (!out) {
  console.error('usage: node screenshot.mjs page.html out.png|webp [light|dark] [time in s]');
  process.exit(64);
}
const browser = new Browser(process.env.CHROMIUM ?? '/usr/bin/chromium');
try {
  const tab = await browser.open(pathToFileURL(resolve(page)).href, {dark: theme === 'dark'});
  await tab.until('window.mortise?.frames > 1', 40);
  if (time !== undefined) await tab.ask(`mortise.goTo(${Number(time)})`);
  await tab.drawn();
  writeFileSync(out, await tab.screenshot(out.endsWith('.webp') ? 'webp' : 'png'));
} finally {
  browser.close();
}
process.exit();
