'use strict';
/* The handout's pictures, each a function that returns an SVG. Grids, colors and hatching are those of
 * the walkthrough (engine/show/page/view/draw.js, page.css); draw.py runs this in a browser and writes the files. */

const EDGE = 12; /* around a picture */

const WORDS = 12; /* size of text */

function picture(name, width, height, description, ...children) {
  return svg('svg', { id: name, xmlns: SVG, viewBox: `0 0 ${width} ${height}`, width, height, role: 'img' },
    svg('title', {}, description), hatchings(),
    svg('rect', { class: 'page', width, height, rx: 6 }), ...children);
}

const words = (x, y, text, kind = 'note') => svg('text', { class: kind, x, y }, text);

function swatch(x, y, kinds) {
  return svg('g', { transform: `translate(${x} ${y})` }, svg('rect', { class: 'paper', width: 14, height: 14 }),
    ...kinds.map(([kind, left, width]) => svg('rect', { class: kind, x: left, width, height: 14 })),
    svg('rect', { class: 'frame', width: 14, height: 14 }));
}

const range = (first, last) => Array.from({ length: last - first + 1 }, (_, i) => first + i);
const cellsOf = (rows, cols) => rows.flatMap((row) => cols.map((col) => [row, col]));

function boxOn(grid, kind, rows, cols) {
  outline(grid, kind, boxOf(grid.rows, grid.cols, rows, cols));
}

/* --- tiles that slide along k ----------------------------------------------------------------- */

/* A 4 x 6, B 6 x 4, tiles of 2: block (1,0), whose tile of C has rows 0-1 and columns 2-3; and of it
 * the thread of C[0][2]. Both matrices hold 1, 2, 3, ... row by row. */
const TILE = 2, M = 4, K = 6, N = 4, FIRST_ROW = 0, FIRST_COL = 2;
const a = (row, col) => row * K + col + 1;
const b = (row, col) => row * N + col + 1;

function sumOf(row, col, terms) {
  return range(0, terms - 1).reduce((sum, p) => sum + a(row, p) * b(p, col), 0);
}

const CELL = 22, BETWEEN = 16; /* panels */

function tilesPicture() {
  const width = (K + N) * CELL + 2 * SIDE + 12, panels = [];
  for (const phase of range(0, K / TILE - 1)) panels.push(tilePanel(phase, EDGE + phase * (width + BETWEEN)));
  const bottom = EDGE + (K + M) * CELL + 2 * (TITLE + LABEL) + 48;
  return picture('tiles', 2 * EDGE + 3 * width + 2 * BETWEEN, bottom + 28,
    'In each phase a block loads the next tile of A to the right and the next tile of B below, and adds to its tile of C',
    ...panels, swatch(EDGE + SIDE, bottom, [['now-a', 0, 7], ['now-b', 7, 7]]),
    words(EDGE + SIDE + 22, bottom + 11, 'the tiles of this phase, loaded into A_s and B_s'),
    swatch(EDGE + 372, bottom, [['past-a', 0, 7], ['past-b', 7, 7]]),
    words(EDGE + 394, bottom + 11, 'those of earlier phases'),
    swatch(EDGE + 572, bottom, [['phase-c', 0, 14]]),
    words(EDGE + 594, bottom + 11, 'the block’s tile of C, the sums so far'));
}

function tilePanel(phase, x) {
  const axis = (count) => makeAxis(count, CELL);
  const right = x + K * CELL + SIDE + 12, low = EDGE + K * CELL + TITLE + LABEL + 8;
  const A = makeGrid({ id: 'a' + phase, title: 'A', rows: axis(M), cols: axis(K), x, y: low });
  const B = makeGrid({ id: 'b' + phase, title: 'B', rows: axis(K), cols: axis(N), x: right, y: EDGE });
  const C = makeGrid({ id: 'c' + phase, title: 'C', rows: axis(M), cols: axis(N), x: right, y: low });
  const rows = range(FIRST_ROW, FIRST_ROW + TILE - 1), cols = range(FIRST_COL, FIRST_COL + TILE - 1);
  const terms = range(phase * TILE, phase * TILE + TILE - 1), past = range(0, phase * TILE - 1);
  paint(A, 'past-a', cellsOf(rows, past));
  paint(A, 'now-a', cellsOf(rows, terms));
  paint(B, 'past-b', cellsOf(past, cols));
  paint(B, 'now-b', cellsOf(terms, cols));
  paint(C, 'stored', cellsOf(rows, cols));
  writeValues(A, cellsOf(rows, range(0, K - 1)).map(([i, p]) => [i, p, String(a(i, p))]), DIGITS_2);
  writeValues(B, cellsOf(range(0, K - 1), cols).map(([p, j]) => [p, j, String(b(p, j))]), DIGITS_2);
  writeValues(C, cellsOf(rows, cols).map(([i, j]) => [i, j, String(sumOf(i, j, (phase + 1) * TILE))]), DIGITS_3);
  boxOn(A, 'own', rows, terms);
  boxOn(B, 'own', terms, cols);
  boxOn(C, 'own', rows, cols);
  boxOn(A, 'mine', [rows[0], rows[0]], terms);
  boxOn(B, 'mine', terms, [cols[0], cols[0]]);
  boxOn(C, 'mine', [rows[0], rows[0]], [cols[0], cols[0]]);
  const slides = phase < K / TILE - 1 ? [
    arrow(middleOf(A, 2, terms[1]), { x: CELL * TILE, y: 0 }), arrow(middleOf(B, terms[1], 1), { x: 0, y: CELL * TILE })] : [];
  const products = terms.map((p) => `${a(rows[0], p)}·${b(p, cols[0])}`).join(' + ');
  const before = phase ? `${sumOf(rows[0], cols[0], phase * TILE)} + ` : '';
  return svg('g', {}, A.node, B.node, C.node, ...slides, words(x + SIDE, EDGE + 30, `phase ${phase}`, 'heading'),
    ...sharedTiles(phase, x, rows, cols, terms),
    words(x + SIDE, low + M * CELL + TITLE + LABEL + 22,
          `C[0][2]: ${before}${products} = ${sumOf(rows[0], cols[0], (phase + 1) * TILE)}`, 'note one'));
}

const DIGITS_2 = 12, DIGITS_3 = 9.5; /* sizes of text that fit */

function arrow(from, by) {
  return svg('path', { class: 'slide', d: `M${from.x} ${from.y}l${by.x} ${by.y}`, 'marker-end': 'url(#arrow-head)' });
}

/* In the free corner above A. */
function sharedTiles(phase, x, rows, cols, terms) {
  const tile = (name, left, kind, value) => {
    const grid = makeGrid({ id: name + phase, title: name, rows: makeAxis(TILE, CELL), cols: makeAxis(TILE, CELL),
                            x: left, y: EDGE + 42 });
    paint(grid, kind, cellsOf([0, 1], [0, 1]));
    writeValues(grid, cellsOf([0, 1], [0, 1]).map(([i, j]) => [i, j, String(value(i, j))]), DIGITS_2);
    return grid.node;
  };
  return [tile('A_s', x, 'now-a', (i, j) => a(rows[i], terms[j])),
          tile('B_s', x + TILE * CELL + SIDE, 'now-b', (i, j) => b(terms[i], cols[j]))];
}

/* --- what the guards allow -------------------------------------------------------------------- */

const SIZE = 2 * BLOCK + 2, THREADS = 3 * BLOCK, THREAD = 128 / BLOCK; /* BLOCK: draw.py */

function guardsPicture() {
  const width = THREADS * THREAD + SIDE, bottom = EDGE + THREADS * THREAD + TITLE + LABEL + 14;
  const keys = [
    [[['now-a', 0, 7]], 'loads an element of A (left half)'], [[['now-b', 7, 7]], 'loads an element of B (right half)'],
    [[], 'empty half: has none, puts 0 into the tile'], [[['mine-key', 0, 14]], 'inside this frame: stores an element of C'],
  ];
  return picture('guards', 2 * width + 2 * EDGE + 16, bottom + 44,
    `${THREADS} x ${THREADS} threads for a ${SIZE} x ${SIZE} matrix: which load from A, which load from B, and which store to C`,
    guardPanel('phases 0 and 1', EDGE, [0, 1]),
    guardPanel(`phase 2: 2 of its ${BLOCK} terms exist`, EDGE + width + 16, [2]),
    ...keys.flatMap(([kinds, text], i) => {
      const x = EDGE + SIDE + (i % 2) * (width + 16), y = bottom + Math.floor(i / 2) * 20;
      return [swatch(x, y, kinds), words(x + 22, y + 11, text)];
    }));
}

/* Half of each thread's cell is A's, half is B's. */
function guardPanel(title, x, [phase]) {
  const rows = makeAxis(THREADS, THREAD), cols = makeAxis(THREADS, THREAD);
  const grid = makeGrid({ id: 'threads' + phase, title, rows, cols, x, y: EDGE });
  const threads = cellsOf(range(0, THREADS - 1), range(0, THREADS - 1));
  const half = (part) => ({ at: new Map(cols.shown.map((i) => [i, [cols.at.get(i)[0] + part * THREAD / 2, THREAD / 2]])) });
  const exists = (p) => phase * BLOCK + p % BLOCK < SIZE; /* the term that a thread is to load */
  const loads = [['now-a', 0, ([row, col]) => row < SIZE && exists(col)], ['now-b', 1, ([row, col]) => exists(row) && col < SIZE]];
  for (const [kind, part, guard] of loads)
    grid.body.querySelector('.lines').before(svg('path', { class: kind, d: stretchesPath(rows, half(part), threads.filter(guard)) }));
  for (const i of [1, 2]) {
    const at = i * BLOCK * THREAD, all = THREADS * THREAD;
    grid.body.append(svg('path', { class: 'border', d: `M${at} 0V${all}M0 ${at}H${all}` }));
  }
  boxOn(grid, 'mine', [0, SIZE - 1], [0, SIZE - 1]);
  grid.body.append(grid.paths.get('mine').node, ...remarks((phase === 0 ? 41 : 8) * BLOCK / 16, (phase === 0 ? 41 : 24) * BLOCK / 16,
    phase === 0 ? ['loads nothing,', 'stores nothing,', 'but arrives at', 'every barrier'] : ['adds zeros', 'and stores', 'to C']));
  return grid.node;
}

/* One rectangle for cells below each other: a fifth of the text of paint(). */
function stretchesPath(rows, cols, cells) {
  const isThere = new Set(cells.map(([row, col]) => row * THREADS + col));
  let path = '';
  for (const [first, col] of cells) {
    if (first > 0 && isThere.has((first - 1) * THREADS + col)) continue;
    let last = first;
    while (last + 1 < THREADS && isThere.has((last + 1) * THREADS + col)) last++;
    const [x, width] = cols.at.get(col), y = rows.at.get(first)[0];
    path += `M${x} ${y}h${width}v${(last - first + 1) * THREAD}h-${width}z`;
  }
  return path;
}

/* Around this thread. */
function remarks(row, col, lines) {
  return lines.map((line, i) => words((col + 0.5) * THREAD, (row + 0.5) * THREAD + (i - (lines.length - 1) / 2) * 14 + 4, line, 'note remark'));
}

/* --- two threads and two barriers ------------------------------------------------------------- */

const STEP = 124, ROW = 28, NAMES = 76;

/* What two threads do at each time, and what their row of A_s holds after it. `barriers`: after which
 * times one opens; `missing`: [thread, time], after which the thread would have waited; `wrong`: where
 * a thread reads what it should not. */
const STORIES = [
  { title: 'with both barriers', wrong: [], barriers: [1, 3], missing: [],
    fast: ['store 1', 'wait', 'read 1 and 2', 'wait', 'store 3'],
    slow: ['', 'store 2', '', 'read 1 and 2', ''],
    holds: ['1, ?', '1, 2', '1, 2', '1, 2', '3, 2'] },
  { title: 'without the first: a tile is read before it is complete',
    wrong: [[0, 1, 'read 1 and ?']], barriers: [3], missing: [[0, 0], [1, 2]],
    fast: ['store 1', '', 'wait', 'wait', 'store 3'],
    slow: ['', '', 'store 2', 'read 1 and 2', ''],
    holds: ['1, ?', '1, ?', '1, 2', '1, 2', '3, 2'] },
  { title: 'without the second: a tile is overwritten before all have read it',
    wrong: [[1, 4, 'read 3 and 2']], barriers: [1], missing: [[0, 2]],
    fast: ['store 1', 'wait', 'read 1 and 2', 'store 3', 'wait'],
    slow: ['', 'store 2', '', '', ''],
    holds: ['1, ?', '1, 2', '1, 2', '3, 2', '3, 2'] },
];

function barriersPicture() {
  const high = TITLE + LABEL + 3 * ROW + 10, steps = STORIES[0].fast.length;
  const bottom = EDGE + STORIES.length * high + 6, left = EDGE + NAMES + SIDE;
  const keys = [[[['now-a', 0, 14]], 'stores its part'], [[['now-b', 0, 14]], 'reads both parts'],
                [[['wrong', 0, 14]], 'reads a wrong value']];
  const line = (x, kind) => svg('path', { class: kind, d: `M${x} ${bottom - 3}v20` });
  return picture('barriers', left + steps * STEP + EDGE + 4, bottom + 28,
    'Two threads and the row of a tile that they share: right with both barriers, wrong without either',
    ...STORIES.map((story, i) => timeline(story, i, EDGE + i * high)),
    ...keys.flatMap(([kinds, text], i) => [swatch(left + i * 136, bottom, kinds), words(left + 20 + i * 136, bottom + 11, text)]),
    line(left + 434, 'barrier'), words(left + 442, bottom + 11, '__syncthreads()'),
    line(left + 560, 'barrier lost'), words(left + 568, bottom + 11, 'missing'));
}

function timeline({ title, fast, slow, holds, barriers, missing, wrong }, number, y) {
  const grid = makeGrid({ id: 'time' + number, title, x: EDGE + NAMES, y,
    rows: makeAxis(3, ROW), cols: makeAxis(fast.length, STEP) });
  for (const label of [...grid.body.querySelectorAll('.label')]) label.remove();
  const does = [...fast.map((text, time) => [0, time, text]), ...slow.map((text, time) => [1, time, text])];
  const those = (word) => does.filter(([, , text]) => text.startsWith(word)).map(([row, time]) => [row, time]);
  paint(grid, 'now-a', those('store'));
  paint(grid, 'now-b', those('read'));
  paint(grid, 'past', those('wait'));
  paint(grid, 'wrong', wrong);
  paint(grid, 'party', wrong);
  writeValues(grid, [...does, ...holds.map((text, time) => [2, time, text])], WORDS);
  for (const [row, time, text] of wrong) {
    const x = (time + 0.5) * STEP, middle = (row + 0.5) * ROW;
    grid.body.append(words(x, middle + 4, text, 'note remark'));
  }
  for (const time of barriers) grid.body.append(svg('path', { class: 'barrier', d: `M${(time + 1) * STEP} -4V${2 * ROW + 4}` }));
  for (const [row, time] of missing)
    grid.body.append(svg('path', { class: 'barrier lost', d: `M${(time + 1) * STEP} ${row * ROW - 4}v${ROW + 8}` }));
  const names = ['fast thread', 'slow thread', 'the tile'];
  return svg('g', {}, ...names.map((name, row) => words(EDGE, y + TITLE + LABEL + row * ROW + ROW / 2 + 4, name)), grid.node);
}

/* --- as text ---------------------------------------------------------------------------------- */

/* Without what draw.js makes and this picture does not use. */
function lean(node) {
  for (const path of node.querySelectorAll('path:not([d])')) path.remove();
  for (const group of node.querySelectorAll('.values:empty')) group.remove();
  for (const plain of node.querySelectorAll('[class=""]')) plain.removeAttribute('class');
  return node;
}

document.getElementById('pictures').textContent =
  JSON.stringify([tilesPicture(), guardsPicture(), barriersPicture()].map((node) =>
    [node.id, new XMLSerializer().serializeToString(lean(node))]));
