// Reads a terminal's output from stdin into xterm.js and prints what it made of it, as JSON.
//
// usage: node xterm_js.mjs MODULES ROWS COLUMNS < BYTES
//
// MODULES is the node_modules folder with @xterm/headless and @xterm/addon-progress.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [modules, rows, columns] = process.argv.slice(2);
const require = createRequire(join(modules, "here.js"));
const { Terminal } = require("@xterm/headless");
const { ProgressAddon } = require("@xterm/addon-progress");

const terminal = new Terminal({ rows: Number(rows), cols: Number(columns), allowProposedApi: true });
const progress = [];
const titles = [];
let bells = 0;
const addon = new ProgressAddon();
terminal.loadAddon(addon);
addon.onChange((change) => progress.push([change.state, change.value]));
terminal.onTitleChange((title) => titles.push(title));
terminal.onBell(() => (bells += 1));
terminal.write(readFileSync(0), () => {
  const buffer = terminal.buffer.active;
  const screen = [];
  for (let row = 0; row < terminal.rows; row += 1) {
    screen.push(buffer.getLine(buffer.baseY + row)?.translateToString(true) ?? "");
  }
  console.log(
    JSON.stringify({
      screen,
      cursor: [buffer.cursorX, buffer.cursorY],
      alternate: buffer.type === "alternate",
      modes: terminal.modes,
      progress,
      titles,
      bells,
    }),
  );
  process.exit(0);
});
