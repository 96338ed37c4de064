/* Grids of cells as SVG: arrays, shared arrays, threads. Knows neither the page nor its
 * state; colors are those of page.css ("pictures").
 *
 * All cells of one kind are one path, whatever their number, and an array too large to be drawn is
 * cut: its axes say which rows and columns are there, how wide, and what is left out. */

const SVG = 'http://www.w3.org/2000/svg';

function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

/* --- axes: where rows or columns are ---------------------------------------------------------- */

const CUT = 30;        /* width of what stands for rows or columns that are left out */
const GHOST_GAP = 6;   /* between an array and what lies outside */

/* An axis of `count` rows or columns, of which those of `shown`, [first, last], are drawn. Those of `focus` have
 * cells of size `cell`, the others of size `context`. `ghosts` are indices outside that are to be drawn as well.
 * `unit`: by how much one's number is larger than the one's before it. The size is the same whichever are shown. */
function makeAxis(count, cell, { focus, shown: [first, last], context, ghosts = [], unit = 1 }) {
  const axis = { count, cell, context, focus, unit, at: new Map(), cuts: [], shown: [], begin: 0, size: 0 };
  const isCut = last - first + 1 < count;
  let x = 0;
  const add = (i, size) => { axis.at.set(i, [x, size]); axis.shown.push(i); x += size; };
  const cut = (from, to) => { axis.cuts.push({ x, from, to }); x += CUT; };
  for (const i of ghosts.filter((g) => g < 0)) add(i, cell);
  if (x) x += GHOST_GAP;
  axis.begin = x;
  if (first > 0) cut(0, first - 1);
  for (let i = first; i <= last; i++) add(i, i >= focus[0] && i <= focus[1] ? cell : context);
  if (last < count - 1) cut(last + 1, count - 1);
  axis.end = x;
  const after = ghosts.filter((g) => g >= count);
  if (after.length) x += GHOST_GAP;
  for (const i of after) add(i, cell);
  axis.size = x + (isCut ? CUT * (2 - axis.cuts.length) : 0);
  return axis;
}

/* The index at a position; undefined: nothing is drawn there. */
const indexAt = (axis, x) => axis.shown.find((i) => x >= axis.at.get(i)[0] && x < axis.at.get(i)[0] + axis.at.get(i)[1]);

/* --- cells ------------------------------------------------------------------------------------ */

/* undefined: the cell is not drawn. */
function cellBox({ rows, cols }, row, col) {
  const [x, width] = cols.at.get(col) || [], [y, height] = rows.at.get(row) || [];
  return x === undefined || y === undefined ? undefined : { x, y, width, height };
}

function boxPath({ x, y, width, height }, inset = 0) {
  const across = width - 2 * inset;
  return `M${x + inset} ${y + inset}h${across}v${height - 2 * inset}h-${across}z`;
}

/* The rectangle from one cell to another; null if nothing of it is drawn. */
function boxOf(rows, cols, [firstRow, lastRow], [firstCol, lastCol]) {
  const xs = cols.shown.filter((i) => i >= firstCol && i <= lastCol).map((i) => cols.at.get(i));
  const ys = rows.shown.filter((i) => i >= firstRow && i <= lastRow).map((i) => rows.at.get(i));
  if (!xs.length || !ys.length) return null;
  const [x, y] = [xs[0][0], ys[0][0]], right = xs[xs.length - 1], bottom = ys[ys.length - 1];
  return { x, y, width: right[0] + right[1] - x, height: bottom[0] + bottom[1] - y };
}

function linesPath(rows, cols) {
  const between = (axis) => axis.shown.filter((i) => i > 0 && i < axis.count)
    .map((i) => axis.at.get(i)).filter(([at, size]) => size >= 4 && at > axis.begin);
  return [...between(cols).map(([x]) => `M${x} ${rows.begin}V${rows.end}`),
          ...between(rows).map(([y]) => `M${cols.begin} ${y}H${cols.end}`)].join('');
}

/* Hatching, so that nothing is told by color alone. Once in each document. */
function hatchings() {
  const pattern = (id, size, ...lines) =>
    svg('pattern', { id, width: size, height: size, patternUnits: 'userSpaceOnUse' },
        ...lines.map((d) => svg('path', { d, class: id + '-line' })));
  return svg('defs', {},
    pattern('hatch-missing', 6, 'M-1 1L1 -1M0 6L6 0M5 7L7 5'),
    pattern('hatch-wrong', 6, 'M-1 5L1 7M0 0L6 6M5 -1L7 1'),
    pattern('hatch-outside', 6, 'M-1 1L1 -1M0 6L6 0M5 7L7 5', 'M-1 5L1 7M0 0L6 6M5 -1L7 1'),
    pattern('hatch-zero', 5, 'M2.5 2.2V2.9'),
    pattern('hatch-idle', 5, 'M0 2.5H5'),
    svg('marker', { id: 'arrow-head', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7,
                    orient: 'auto-start-reverse' }, svg('path', { d: 'M0 0L8 4L0 8z', class: 'arrow-head' })));
}

/* --- a grid ----------------------------------------------------------------------------------- */

/* Kinds of cells, from the bottom to the top; page.css has their colors. */
const KINDS = ['past-a', 'past-b', 'past', 'phase-a', 'phase-b', 'phase', 'sum-1', 'sum-2', 'sum-3', 'sum-4', 'stored', 'zero', 'acting', 'idle', 'waiting',
               'waiting-2', 'returned', 'now-a', 'now-b', 'now', 'now-c', 'void', 'missing', 'wrong', 'outside'];
const OUTLINES = ['own', 'line', 'origin', 'trail', 'party', 'party-2', 'mine', 'cursor'];

const TITLE = 20, LABEL = 14, SIDE = 24; /* room above and beside a grid */

const gridSize = (rows, cols, title) => ({ width: Math.max(cols.size, title.length * 8.2) + SIDE, height: rows.size + TITLE + LABEL });

/* id: of its SVG group; title: above it; hue: the class of its colors (a, b, c, shared or thread);
 * x, y: where it is in the picture. */
function makeGrid({ id, title, rows, cols, hue = '', x = 0, y = 0 }) {
  const grid = { id, rows, cols, x, y, paths: new Map(), texts: new Map() };
  grid.body = svg('g', { transform: `translate(${SIDE} ${TITLE + LABEL})` });
  grid.node = svg('g', { id, class: 'grid ' + hue, transform: `translate(${x} ${y})` },
    svg('text', { class: 'grid-title', x: SIDE, y: TITLE - 7 }, title), grid.body);
  grid.body.append(svg('rect', { class: 'paper', x: cols.begin, y: rows.begin, width: cols.end - cols.begin,
                                 height: rows.end - rows.begin }));
  for (const kind of KINDS) addLayer(grid, kind, 'cells ' + kind);
  grid.body.append(svg('path', { class: 'lines', d: linesPath(rows, cols) }));
  const lens = boxOf(rows, cols, rows.focus, cols.focus); /* around what is in full size, where something is not */
  if (lens && (rows.context < rows.cell || cols.context < cols.cell))
    grid.body.append(svg('rect', { class: 'lens', ...lens }));
  grid.body.append(...drawCuts(rows, cols));
  grid.values = svg('g', { class: 'values' });
  grid.body.append(grid.values, svg('rect', { class: 'frame', x: cols.begin, y: rows.begin,
    width: cols.end - cols.begin, height: rows.end - rows.begin }));
  for (const kind of OUTLINES) addLayer(grid, kind, 'outline ' + kind);
  grid.body.append(...drawLabels(rows, cols));
  return grid;
}

function addLayer(grid, kind, classes) {
  const path = svg('path', { class: classes });
  grid.paths.set(kind, { node: path, d: '' });
  grid.body.append(path);
}

function drawCuts(rows, cols) {
  const nodes = [], texts = []; /* which lie above all of these */
  const wide = cols.end - cols.begin, high = rows.end - rows.begin;
  for (const { x, from, to } of cols.cuts) {
    const middle = `translate(${x + CUT / 2} ${rows.begin + high / 2}) rotate(-90)`;
    nodes.push(svg('rect', { class: 'cut', x, y: rows.begin, width: CUT, height: high }));
    texts.push(svg('text', { class: 'cut-words', transform: middle, dy: '0.35em' }, high > 90 ? `columns ${from}..${to}` : '···'));
  }
  for (const { x: y, from, to } of rows.cuts) {
    nodes.push(svg('rect', { class: 'cut', x: cols.begin, y, width: wide, height: CUT }));
    texts.push(svg('text', { class: 'cut-words', x: cols.begin + wide / 2, y: y + CUT / 2, dy: '0.35em' },
                   wide > 90 ? cutWords(rows, from, to) : '···'));
  }
  return [...nodes, ...texts];
}

function cutWords({ count, unit }, from, to) {
  if (unit === 1) return `rows ${from}..${to}`;
  return to === count - 1 ? `${from * unit} and what follows` : `${from * unit}..${(to + 1) * unit - 1}`;
}

/* As many row and column numbers as there is room for, at round numbers. */
function drawLabels(rows, cols) {
  const widthOf = (i) => Math.max(15, 8 * String(i).length + 3);
  return [
    ...labeled(cols, widthOf).map(({ i, middle }) => svg('text', { class: 'label', x: middle, y: -4 }, String(i))),
    ...labeled(rows, () => 13).map(({ i, middle }) =>
      svg('text', { class: 'label side', x: -5, y: middle, dy: '0.35em' }, String(i * rows.unit))),
  ];
}

function labeled(axis, roomOf) {
  const labels = [];
  let free = -Infinity;
  for (const i of axis.shown) {
    const [at, size] = axis.at.get(i), middle = at + size / 2;
    const isRound = i === axis.focus[0] || i % 8 === 0, isOutside = i < 0 || i >= axis.count;
    if (!(size >= 13 || isOutside || isRound) || middle - free < roomOf(i)) continue;
    labels.push({ i, middle });
    free = middle;
  }
  return labels;
}

/* How much longer than usual the numbers of units beside a grid are. */
const labelBeyond = ({ count, unit }) => (unit === 1 ? 0 : Math.max(0, 6 * String(count * unit).length + 5 - SIDE));

/* An empty layer has no path at all, as if nothing had ever been there. */
function setPath(layer, d) {
  if (d === layer.d) return;
  if (d) layer.node.setAttribute('d', d);
  else layer.node.removeAttribute('d');
  layer.d = d;
}

/* The cells of one kind, each [row, col], from now on: one path for all of them. */
function paint(grid, kind, cells) {
  const boxes = cells.map(([row, col]) => cellBox(grid, row, col)).filter(Boolean);
  const pathOf = kind === 'trail' ? underline : (box) => boxPath(box, INSETS[kind]);
  setPath(grid.paths.get(kind), boxes.map(pathOf).join(''));
}

/* Outlines lie on or outside the edge of their cells, so that the numbers can be read. */
const INSETS = { origin: -1, party: 0.5, 'party-2': 0.5 };

const LEAST_LINED = 6; /* pixels: a line would cover lower cells */

function underline({ x, y, width, height }) {
  return height >= LEAST_LINED ? `M${x + 1} ${y + height - 1}h${width - 2}` : '';
}

/* Around a rectangle of cells; null: around none. */
function outline(grid, kind, box) {
  setPath(grid.paths.get(kind), box ? boxPath(box) : '');
}

/* --- values in cells -------------------------------------------------------------------------- */

const SMALLEST_TEXT = 12, LARGEST_TEXT = 14; /* pixels */
const DIGIT = 0.62; /* width of a digit, of the size of the text */

/* Size of text in cells of this size, for values of so many characters; and how many fit. */
function textFit(cell, characters) {
  const wanted = (cell - 4) / (Math.max(characters, 2) * DIGIT);
  const size = Math.min(LARGEST_TEXT, cell * 0.6, Math.max(SMALLEST_TEXT, wanted));
  return { size, room: size < SMALLEST_TEXT ? 0 : Math.floor((cell - 2) / (size * DIGIT)) };
}

/* The smallest cell in which so many characters have room. */
const leastCell = (characters) => Math.ceil(Math.max(SMALLEST_TEXT / 0.6, characters * SMALLEST_TEXT * DIGIT + 4));

/* values: [row, col, text, class]; of those that are there already the nodes stay. */
function writeValues(grid, values, size) {
  const before = grid.texts;
  grid.texts = new Map();
  for (const [row, col, text, kind = ''] of values) {
    const box = cellBox(grid, row, col), key = [row, col, text, kind].join();
    if (!box || !text) continue;
    const at = { ...middleOfBox(box), dy: '0.35em', ...(kind && { class: kind }) };
    grid.texts.set(key, before.get(key) || svg('text', at, text));
  }
  grid.values.setAttribute('font-size', size);
  if (grid.texts.size === before.size && [...before.keys()].every((key) => grid.texts.has(key))) return;
  grid.values.replaceChildren(...grid.texts.values());
}

const middleOfBox = ({ x, y, width, height }) => ({ x: x + width / 2, y: y + height / 2 });

/* The middle of a cell, in the coordinates of the picture; undefined: it is not drawn. */
function middleOf(grid, row, col) {
  const box = cellBox(grid, row, col), { x, y } = box ? middleOfBox(box) : {};
  return box && { x: grid.x + SIDE + x, y: grid.y + TITLE + LABEL + y };
}

/* A bent arrow, which keeps this far from the middle of the cells that it joins. */
function arrowPath(begin, end, away) {
  const bend = 0.12, length = Math.hypot(end.x - begin.x, end.y - begin.y) || 1, part = Math.min(away / length, 0.4);
  const between = (t) => ({ x: begin.x + (end.x - begin.x) * t, y: begin.y + (end.y - begin.y) * t });
  const from = between(part), to = between(1 - part), dx = to.x - from.x, dy = to.y - from.y;
  const mx = (from.x + to.x) / 2 - dy * bend, my = (from.y + to.y) / 2 + dx * bend;
  return `M${from.x} ${from.y}Q${mx} ${my} ${to.x} ${to.y}`;
}
