// SPDX-License-Identifier: Apache-2.0
// Runs a wasm32-wasi build of the command in Node, with the current folder as its own, and the
// system's folder for temporary files:
//   node --experimental-wasi-unstable-preview1 scripts/wasi.mjs MODULE VERB [ARGUMENT...]
// (Node 18, which Debian 12 has, wants the flag; later ones accept it.)
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { argv, env, exit } from 'node:process';
import { WASI } from 'node:wasi';

const wasi = new WASI({
  version: 'preview1',
  args: ['quipu', ...argv.slice(3)],
  env,
  preopens: { '.': '.', [tmpdir()]: tmpdir() },
  returnOnExit: true,
});
const module = await WebAssembly.compile(await readFile(argv[2]));
const instance = await WebAssembly.instantiate(module, {
  wasi_snapshot_preview1: wasi.wasiImport,
});
exit(wasi.start(instance));
