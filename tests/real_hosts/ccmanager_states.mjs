// Prints what ccmanager's published detector says of a terminal, after each piece of its output.
// usage: node ccmanager_states.mjs NODE_MODULES STRATEGY COLUMNS ROWS < one base64 piece a line
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';

const [, , modules, strategy, columns, rows] = process.argv;
const require = createRequire(resolve(modules, 'x.js'));
const { Terminal } = require('@xterm/headless');
const detectors = resolve(modules, 'ccmanager/dist/services/stateDetector/index.js');
const { createStateDetector } = await import(pathToFileURL(detectors).href);

const terminal = new Terminal({ cols: Number(columns), rows: Number(rows), allowProposedApi: true });
const detector = createStateDetector(strategy);
let state = 'idle';
for await (const line of createInterface({ input: process.stdin })) {
  await new Promise((done) => terminal.write(Buffer.from(line, 'base64'), done));
  state = detector.detectState(terminal, state);
  console.log(state);
}
