// Bundles src/ and three.js into one file, dist/page.html, in which mortise puts the data of a run.
//
//   npm ci && npm run build            the same input gives the same bytes
//   node build.mjs other/page.html     somewhere else
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const read = (...path) => readFileSync(join(here, ...path), 'utf8');
const out = process.argv[2] ?? join(here, 'dist', 'page.html');

const bundled = async (entry, options) => {
  const result = await build({
    entryPoints: [join(here, 'src', entry)], bundle: true, minify: true, write: false, charset: 'utf8',
    legalComments: 'none', logLevel: 'warning', absWorkingDir: here, ...options,
  });
  return result.outputFiles[0].text.trim();
};
const script = await bundled('main.js', {format: 'iife', target: 'es2020'});
const style = await bundled('style.css', {});
const version = JSON.parse(read('node_modules', 'three', 'package.json')).version;
const licence = `three.js ${version}, https://threejs.org\n\n${read('node_modules', 'three', 'LICENSE').trim()}`;
if (licence.includes('<') || licence.includes('&')) throw new Error('the licence needs to be escaped');

// By functions: in a string, $ would have a meaning.
const page = read('src', 'page.html')
  .replace('/* style */', () => style)
  .replace('<!-- licence -->', () => licence)
  .replace('/* script */', () => script);
mkdirSync(dirname(out), {recursive: true});
writeFileSync(out, page);
console.log(`${out}: ${page.length} characters`);
