/* The data: the lab's arrays, in its panels; shared arrays beside the one that they are filled from; the
 * threads of the block. layoutScene() makes the grids anew when a phase begins, when the lens moves, or when
 * the page gets another size; paintScene() marks what a step did.
 *
 * The whole picture is in the window. Where its numbers would be too small to be read, each grid gets a lens: a
 * few rows and columns, around what the selected thread accessed last, are in full size, and the others are small. */

const GAP = 16;          /* between grids */
const MOST_FOCUS = 40;   /* rows or columns that are never left out */
const WINDOW = 32;       /* of those that are shown when there are more */
const MOST_VALUES = 2400; /* cells with a number in them */
const WIDEST = 34;       /* columns of threads that still have six tenths of the size; of more, all are smaller */

/* --- what is in focus ------------------------------------------------------------------------- */

const emptyRange = () => [Infinity, -Infinity];
const isEmpty = ([first, last]) => first > last;
const widen = (range, i) => { range[0] = Math.min(range[0], i); range[1] = Math.max(range[1], i); };
const union = (a, b) => [Math.min(a[0], b[0]), Math.max(a[1], b[1])];

/* Rows and columns of the lab's arrays that the block accesses, in each phase and in all. */
function findExtents(run) {
  const make = () => run.globals.map(() => ({ rows: emptyRange(), cols: emptyRange() }));
  run.extents = { all: make(), phase: run.phases.map(make) };
  for (let a = 0; a < run.accesses.count; a++) {
    const array = arrayOf(run, a), offset = run.accesses.offset[a];
    if (array.role === 'shared' || !isInside(array, offset)) continue;
    const { row, col } = cellOf(array, offset), phase = phaseAt(run, run.accesses.step[a]);
    for (const extent of [run.extents.all, phase === NONE ? null : run.extents.phase[phase]])
      if (extent) { widen(extent[array.number].rows, row); widen(extent[array.number].cols, col); }
  }
  if (run.isCut) for (const extents of [run.extents.all, ...run.extents.phase]) extents.forEach((e, i) => completeExtent(run, run.arrays[i], e));
}

/* Of a run that was stopped, or a recording that was cut, only a corner of its part may have been accessed: shown is as much
 * as the block has threads. */
function completeExtent(run, array, extent) {
  const { block } = run.launch, [x, y] = [0, 1];
  if (block[y] === 1 || array.dims.length !== 2) return;
  [[extent.rows, array.rows, y], [extent.cols, array.cols, x]].forEach(([range, count, usual], axis) => {
    const by = array.by.indexOf(axis), size = block[by === NONE ? usual : by];
    const first = by !== NONE ? run.block[by] * size : isEmpty(range) ? 0 : Math.floor(range[0] / size) * size;
    if (first < count && (isEmpty(range) || range[0] >= first) && range[1] < first + size) { range[0] = first; range[1] = Math.min(first + size, count) - 1; }
  });
}

/* Where the first of these arrays is accessed in this step, along one axis; else where one was last. */
function currentIndex(run, step, arrays, axis) {
  for (let s = Math.max(step, 0); s >= 0; s--) {
    const range = emptyRange();
    for (let a = run.steps[s].first; a < run.steps[s].end; a++) {
      const array = arrayOf(run, a), offset = run.accesses.offset[a];
      if (arrays.includes(array) && isInside(array, offset)) widen(range, cellOf(array, offset)[axis]);
    }
    if (!isEmpty(range)) return range[0];
  }
  return 0;
}

/* At most so much in full size as can be drawn; a part of it, if there is more. */
function focusOn(range, count, current) {
  if (isEmpty(range)) return [0, Math.min(count, MOST_FOCUS) - 1];
  if (range[1] - range[0] < MOST_FOCUS) return range;
  const first = Math.floor(current() / WINDOW) * WINDOW;
  return [first, Math.min(first + WINDOW, count) - 1];
}

/* The arrays whose rows, or columns, line up with those of this one, and itself. */
function linedUp(run, array, axis) {
  const lead = ({ number, panel }) => (panel[axis + '_with'] === NONE ? number : panel[axis + '_with']);
  return run.globals.filter((other) => lead(other) === lead(array));
}

/* What is never left out at a step: of each of the lab's arrays rows and columns. What lines up shows the same: all that the
 * block accesses, or if that is too much, what it stores; of other axes what it accesses in this phase. */
function viewAt(run, step) {
  if (!run.extents) findExtents(run);
  const phase = phaseNear(run, step), { all } = run.extents, here = phase === NONE ? all : run.extents.phase[phase];
  const focus = (array, axis) => {
    const group = linedUp(run, array, axis), inputs = group.filter((each) => each.role === 'input');
    const rangeOf = (arrays) => arrays.map(({ number }) => all[number][axis]).reduce(union, emptyRange());
    const at = () => currentIndex(run, step, inputs.length ? inputs : group, axis === 'rows' ? 'row' : 'col');
    const now = here[array.number][axis], both = rangeOf(group), stored = rangeOf(group.filter((each) => each.role === 'output'));
    if (group.length === 1) return focusOn(isEmpty(now) ? both : now, array[axis], at);
    return focusOn(both[1] - both[0] < MOST_FOCUS || isEmpty(stored) ? both : stored, array[axis], at);
  };
  return run.globals.map((array) => ({ rows: focus(array, 'rows'), cols: focus(array, 'cols') }));
}

/* After the last phase its elements stay in focus. */
function phaseNear(run, step) {
  if (!run.phases.length) return NONE;
  const phase = phaseAt(run, step);
  return phase !== NONE ? phase : step > run.phases[0].first ? run.phases.length - 1 : 0;
}

/* --- the lens --------------------------------------------------------------------------------- */

/* By an array's number the cell of it that the thread accessed last, or will first, and when; for a copy in shared memory
 * also the element that it was copied from. Of an output that is missing or wrong the first element, unless the thread stores one itself. */
function placesAt(run, step, thread) {
  const { accesses } = run, places = new Map(), amiss = firstAmiss(run);
  const see = (array, offset, a) => {
    if (accesses.step[a] <= step || !places.has(array.number)) places.set(array.number, { ...cellOf(array, offset), when: a });
  };
  for (const a of threadAccesses(run, thread)) {
    const array = arrayOf(run, a), origin = accesses.originArray[a];
    see(array, accesses.offset[a], a);
    if (array.role === 'shared' && origin !== NONE) see(run.arrays[origin], accesses.originOffset[a], a);
  }
  if (amiss && !places.has(amiss.array.number)) places.set(amiss.array.number, { ...cellOf(amiss.array, amiss.offset), when: accesses.count });
  return places;
}

/* Of this range the `lens` indices, in steps of as many, that `at` is one of. */
function lensOn([first, last], at, lens) {
  if (last - first < lens) return [first, last];
  const inside = Math.max(first, Math.min(last, at)), begin = Math.min(first + Math.floor((inside - first) / lens) * lens, last - lens + 1);
  return [begin, begin + lens - 1];
}

/* By grid the rows and columns that are in full size, and those that are never left out. */
function focusOf({ run, selection }, step, lens) {
  const places = lens === Infinity ? new Map() : placesAt(run, step, selection.thread), view = viewAt(run, step), focus = new Map();
  const place = (arrays) => arrays.map(({ number }) => places.get(number)).filter(Boolean).sort((x, y) => y.when - x.when)[0];
  for (const array of run.globals) {
    const { rows, cols } = view[array.number];
    const row = place(linedUp(run, array, 'rows'))?.row ?? rows[0], col = place(linedUp(run, array, 'cols'))?.col ?? cols[0];
    focus.set(array.number, { rows: lensOn(rows, row, lens), cols: lensOn(cols, col, lens), keep: view[array.number] });
  }
  for (const array of run.shared) {
    const keep = { rows: [0, array.rows - 1], cols: [0, array.cols - 1] }, { row, col } = places.get(array.number) || { row: 0, col: 0 };
    focus.set(array.number, { rows: lensOn(keep.rows, row, lens), cols: lensOn(keep.cols, col, lens), keep });
  }
  const threads = threadShape(run), [row, col] = cellOfThread(run, selection.thread);
  focus.set('threads', { rows: lensOn([0, threads.rows - 1], row, lens), cols: lensOn([0, threads.cols - 1], col, lens) });
  return focus;
}

/* --- what lies outside ------------------------------------------------------------------------ */

const MOST_GHOSTS = 3;

/* Rows and columns outside the array that the block accesses or the finding names. */
function ghostsOf(run, array) {
  const rows = new Set(), cols = new Set(), named = findingCell(run, array);
  if (named) { rows.add(named.row); cols.add(named.col); }
  for (const offset of accessesOf(run, array).keys())
    if (!isInside(array, offset)) rows.add(cellOf(array, offset).row);
  return { rows: nearest(rows, array.rows), cols: nearest(cols, array.cols) };
}

const nearest = (indices, count) => ascending(indices).filter((i) => i < 0 || i >= count)
  .sort((a, b) => Math.max(-a, a - count) - Math.max(-b, b - count)).slice(0, MOST_GHOSTS).sort((a, b) => a - b);

/* The element that the finding names, if it is of this array and has a row and a column. */
function findingCell({ finding }, array) {
  if (!finding || finding.variable !== array.name || finding.index?.length !== 2) return null;
  return { row: finding.index[0], col: finding.index[1] };
}

/* --- sizes ------------------------------------------------------------------------------------ */

/* The input that a shared array is filled from; undefined: none, or several. */
function partnerOf(run, array) {
  const votes = run.globals.map(() => 0);
  for (const list of accessesOf(run, array).values())
    for (const a of list) if (run.accesses.originArray[a] !== NONE) votes[run.accesses.originArray[a]]++;
  const most = Math.max(1, ...votes), first = votes.indexOf(most);
  return first === votes.lastIndexOf(most) ? run.globals[first] : undefined;
}

/* Grids by their names, in cells of the lab's panels and beside their rows. Shared arrays are in a free panel above or below
 * the array that they are filled from, else beside it; threads are in one where nothing is shared, else beside the last row, or
 * below a single column, or beside its first row if it is narrow. */
function makePanels(run, isNarrow) {
  const count = (axis) => 1 + Math.max(...run.globals.map(({ panel }) => panel[axis]));
  const cells = Array.from({ length: count('row') }, () => Array.from({ length: count('col') }, () => []));
  const beside = cells.map(() => []), last = beside[beside.length - 1], unknown = [], below = [];
  for (const { panel, number } of run.globals) cells[panel.row][panel.col].push(gridName(number));
  const free = cells.flatMap((row) => row.map((names, col) => ({ names, col }))).filter(({ names }) => !names.length);
  for (const array of run.shared) {
    const panel = partnerOf(run, array)?.panel;
    const names = panel && (free.find(({ col }) => col === panel.col)?.names || beside[panel.row]);
    (names || unknown).push(...namesOfSlices(array));
  }
  const single = isNarrow ? beside[0] : below;
  const room = !run.shared.length && free.length ? free[0].names : cells[0].length > 1 ? last : single;
  room.push('threads');
  last.push(...unknown);
  return { cells: below.length ? [...cells, [below]] : cells, beside };
}

/* Of an array's grid: one for each slice. */
const gridName = (number, slice = 0) => number + '-' + slice;
const namesOfSlices = (array) => Array.from({ length: array.slices }, (_, slice) => gridName(array.number, slice));

function threadShape(run) {
  const [x, y, z] = run.launch.block;
  const wrapped = y === 1 && z === 1 && x > WARP;
  return wrapped ? { cols: WARP, rows: Math.ceil(x / WARP), wrapped } : { cols: x, rows: y * z, wrapped };
}

/* All grids for cells of these sizes, not yet placed: what makeGrid() takes, by name. */
function planGrids(run, focus, { cell, context, lens }) {
  run.ghosts ||= run.globals.map((array) => ghostsOf(run, array));
  const plans = new Map();
  const plan = (name, hue, title, rows, cols) =>
    plans.set(name, { id: 'grid-' + name, title, hue, rows, cols, ...gridSize(rows, cols, title) });
  for (const array of run.globals) {
    const { rows, cols, keep } = focus.get(array.number), ghosts = run.ghosts[array.number], unit = array.dims.length === 1 ? array.cols : 1;
    plan(gridName(array.number), array.hue, `${array.name}  ${array.dims.join(' × ')}`,
         makeAxis(array.rows, cell, { focus: rows, keep: keep.rows, context, ghosts: ghosts.rows, unit }),
         makeAxis(array.cols, cell, { focus: cols, keep: keep.cols, context, ghosts: ghosts.cols }));
  }
  for (const array of run.shared) planShared(array, cell, { ...focus.get(array.number), context }, plan);
  planThreads(threadShape(run), focus.get('threads'), { cell, context, lens }, plan);
  return plans;
}

/* They have no numbers: in a lens they are smaller than elements, and of many all are small. */
function threadSize({ cols, wrapped }, { cell, lens }) {
  if (lens !== Infinity) return wrapped ? SMALL_THREAD : THREAD;
  return cols > 16 ? smallerCell(cell * 0.6, cols) : cell;
}

function planThreads(shape, focus, sizes, plan) {
  const size = threadSize(shape, sizes), context = Math.min(size, shape.wrapped ? size : sizes.context);
  const axis = (count, range) => makeAxis(count, size, { focus: range, keep: [0, count - 1], context });
  plan('threads', 'thread', 'threads: x →, y ↓', axis(shape.rows, focus.rows), axis(shape.cols, focus.cols));
}

const smallerCell = (cell, cols) => Math.max(3, Math.floor(Math.min(cell, cell * WIDEST / cols)));

function planShared(array, cell, { rows, cols, keep, context }, plan) {
  const axis = (which, focus) => makeAxis(array[which], cell, { focus, keep: keep[which], context });
  const dims = (list) => list.map((d) => '[' + d + ']').join('');
  for (let slice = 0; slice < array.slices; slice++) {
    const title = array.slices > 1 ? `${array.name}[${slice}]${dims(array.dims.slice(1))}` : array.name + dims(array.dims);
    plan(gridName(array.number, slice), 'shared', title, axis('rows', rows), axis('cols', cols));
  }
}

const widest = (plans) => Math.max(0, ...plans.map((g) => g.width));
const stackHeight = (plans) => plans.reduce((sum, g) => sum + g.height + GAP, 0);

/* Gives each plan its x and y, and returns where columns and rows of panels begin, at `least` there: what is in the last of
 * them stays where it is while the parts of the others in focus change. */
function arrange(run, plans, { cells, beside }, least = { x: [], y: [] }) {
  const of = (names) => names.map((name) => plans.get(name)), lastRow = cells.length - 1, lastCol = cells[0].length - 1;
  const widthOf = (col) => widest(of(cells.flatMap((row) => row[col]))) + GAP;
  const x = [Math.max(...[...plans.values()].map((plan) => labelBeyond(plan.rows)))], y = [0];
  for (let c = 0; c < lastCol; c++) x.push(Math.max(least.x[c + 1] || 0, x[c] + widthOf(c)));
  for (let r = 0; r < lastRow; r++) y.push(Math.max(least.y[r + 1] || 0, y[r] + Math.max(...cells[r].map((names) => stackHeight(of(names))))));
  const top = (r, list) => (r < lastRow ? y[r + 1] - stackHeight(list) : y[r]);
  cells.forEach((row, r) => row.map(of).forEach((list, c) =>
    stack(list, (plan) => (c < lastCol ? x[c + 1] - GAP - plan.width : x[c]), top(r, list))));
  lineUp(run, plans);
  const right = x[lastCol] + widthOf(lastCol);
  beside.map(of).reduce((end, list, r) => stack(list, () => right, Math.max(end, top(r, list))), 0);
  const all = [...plans.values()];
  return { x, y, width: Math.max(...all.map((g) => g.x + g.width)) + 4, height: Math.max(...all.map((g) => g.y + g.height)) + 4 };
}

function lineUp(run, plans) {
  const planOf = (number) => plans.get(gridName(number));
  for (const { number, panel } of run.globals) {
    const plan = planOf(number), rows = planOf(panel.rows_with), cols = planOf(panel.cols_with);
    if (rows) plan.y = rows.y + rows.rows.begin - plan.rows.begin;
    if (cols) plan.x = cols.x + cols.cols.begin - plan.cols.begin;
  }
}

function stack(plans, x, y) {
  for (const plan of plans) {
    Object.assign(plan, { x: x(plan), y });
    y += plan.height + GAP;
  }
  return y;
}

const LARGEST = 46, LARGEST_CONTEXT = 12, SMALLEST_CONTEXT = 1.5; /* pixels: cells, and those outside of a lens */
const THREAD = 20, SMALL_THREAD = 8; /* in and without a lens */
const LENSES = [Infinity, 4, 3, 2];  /* rows and columns in full size; Infinity: there is no lens */

/* The picture at a step with cells of these sizes. */
function pictureOf(scene, step, sizes, least) {
  const plans = planGrids(scene.run, focusOf(scene, step, sizes.lens), sizes);
  return { plans, ...arrange(scene.run, plans, sizes.lens === Infinity ? scene.panels : scene.narrow, least) };
}

const fitsIn = (room, { width, height }) => width <= room.width && height <= room.height;

/* In which the values of all arrays but outputs can be read, whose sums may be longer. */
const readableCell = (run) => leastCell(Math.max(...[...run.inputs, ...run.shared].map((array) => leastRoom(run, array))));

/* The largest cells with which the picture fits, all of the same size; else of a lens and around it. Where nothing
 * fits, the picture scrolls: numbers stay large enough to be read. */
function chooseSizes(scene, step, room) {
  const least = readableCell(scene.run), fits = (sizes) => fitsIn(room, pictureOf(scene, step, sizes));
  const all = LENSES.flatMap((lens) => sizesOf(lens, least));
  const sizes = all.find(fits) || all[all.length - 1];
  while (sizes.context < Math.min(sizes.cell, LARGEST_CONTEXT) && fits({ ...sizes, context: sizes.context + 0.5 })) sizes.context += 0.5;
  return sizes;
}

/* From the largest one down. */
function sizesOf(lens, least) {
  const sizes = (cell, context) => ({ cell, context, lens }), cells = Array.from({ length: LARGEST - least + 1 }, (_, i) => LARGEST - i);
  if (lens === Infinity) return [...cells.map((cell) => sizes(cell, cell)), sizes(least, SMALLEST_CONTEXT)];
  return cells.filter((cell) => cell <= leastCell(4)).map((cell) => sizes(cell, SMALLEST_CONTEXT));
}

/* Cells have one size, and panels stay where they are, in all phases whose pictures then fit. */
function chooseLayout(scene, room) {
  const steps = [NONE, ...phaseStarts(scene.run)], sizes = chooseSizes(scene, NONE, room), least = { x: [], y: [] };
  for (const step of steps) {
    const picture = pictureOf(scene, step, sizes);
    if (!fitsIn(room, picture)) continue;
    for (const axis of ['x', 'y']) least[axis] = picture[axis].map((begin, i) => Math.max(begin, least[axis][i] || 0));
  }
  return { sizes, least };
}

/* The size of a picture is that of its view, wherever in it the lens is. */
function layoutAt(scene, step) {
  const { usual, room, layouts } = scene, view = JSON.stringify(viewAt(scene.run, step));
  if (!layouts.has(view)) layouts.set(view, fitsIn(room, pictureOf(scene, step, usual.sizes)) ? usual : { sizes: chooseSizes(scene, step, room) });
  return layouts.get(view);
}

/* --- the picture ------------------------------------------------------------------------------ */

function makeScene(run, container) {
  const scene = { run, container, panels: makePanels(run, false), narrow: makePanels(run, true), grids: new Map(), focusCell: new Map(),
                  zoom: 1, measured: '', room: null, usual: null, layouts: new Map(), key: '', sizes: null, selection: null };
  const { arrays } = run.words;
  scene.node = svg('svg', { id: 'scene', role: 'group', 'aria-label': arrays[0].toUpperCase() + arrays.slice(1) + ', shared memory and threads' });
  container.append(scene.node);
  return scene;
}

const LEAST_HEIGHT = 300, BELOW = 20;

/* What the window has left for the picture, with the legend below it; where the code is above it instead of
 * beside it, the window below the bar. */
function roomFor({ container, zoom }) {
  const [pane, box, legend, bar] = [byId('data-pane'), container, container.nextElementSibling, byId('time')].map((node) => node.getBoundingClientRect());
  const isBeside = byId('code-pane').getBoundingClientRect().right < pane.left;
  const above = isBeside ? box.top + window.scrollY : bar.height + box.top - pane.top, below = legend.bottom - box.bottom + BELOW;
  return { width: (container.clientWidth - 4) * zoom, height: Math.max(LEAST_HEIGHT, window.innerHeight - above - below) * zoom };
}

const sizeKey = ({ container, zoom }) => [window.innerWidth, window.innerHeight, container.clientWidth, zoom].join();

/* Anew only if the window, the pane or the zoom have changed: a longer sentence is not to move the picture. */
function measureRoom(scene) {
  const key = sizeKey(scene);
  if (key === scene.measured) return;
  Object.assign(scene, { measured: key, room: roomFor(scene), layouts: new Map() });
  scene.usual = chooseLayout(scene, scene.room);
}

/* Makes the grids anew if other elements are in focus now, or if the page has another size. */
function layoutScene(scene, step, selection) {
  scene.selection = selection;
  measureRoom(scene);
  const { sizes, least } = layoutAt(scene, step);
  const key = JSON.stringify([[...focusOf(scene, step, sizes.lens)], sizes, scene.measured]);
  if (key === scene.key) return;
  scene.key = key;
  drawScene(scene, pictureOf(scene, step, sizes, least), sizes);
}

function drawScene(scene, { plans, width, height }, sizes) {
  const focused = document.activeElement && document.activeElement.closest('#scene') && document.activeElement.id;
  scene.sizes = sizes;
  scene.node.setAttribute('width', width);
  scene.node.setAttribute('height', height);
  scene.grids = new Map([...plans].map(([name, plan]) => [name, makeGrid(plan)]));
  scene.arrows = svg('g', { class: 'arrows' });
  scene.node.replaceChildren(hatchings(), ...[...scene.grids.values()].map((g) => g.node), scene.arrows);
  for (const [name, grid] of scene.grids) addCursor(scene, name, grid);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

/* Arrays as they are drawn: the grid of each slice. */
const gridOf = (scene, array, slice = 0) => scene.grids.get(gridName(array.number, slice));

function cellsOf(scene, accesses) {
  const cells = new Map(); /* grid -> cells */
  for (const a of accesses) addCell(scene, cells, arrayOf(scene.run, a), scene.run.accesses.offset[a]);
  return cells;
}

function addCell(scene, cells, array, offset) {
  const { slice, row, col } = cellOf(array, offset);
  const grid = gridOf(scene, array, slice);
  if (grid) addTo(cells, grid, [row, col]);
}

const paintEverywhere = (scene, kind, cells) => {
  for (const grid of scene.grids.values()) paint(grid, kind, cells.get(grid) || []);
};

function paintScene(scene, state, selection) {
  layoutScene(scene, state.step, selection);
  scene.valuesLeft = MOST_VALUES;
  const { shared, inputs, outputs } = scene.run;
  for (const array of shared) paintShared(scene, state, array);
  for (const array of inputs) paintInput(scene, state, array);
  for (const array of outputs) paintOutput(scene, state, array);
  paintThreads(scene, state, selection.thread);
  paintActing(scene, state, selection);
  paintFinding(scene, state);
}

/* --- what has happened ------------------------------------------------------------------------ */

function eachCell(grid, visit) {
  for (const row of grid.rows.shown)
    for (const col of grid.cols.shown) if (row >= 0 && row < grid.rows.count && col >= 0 && col < grid.cols.count) visit(row, col);
}

/* Loaded by the block in this phase, or before it. */
function paintInput(scene, state, array) {
  const { run } = scene, grid = gridOf(scene, array), all = accessesOf(run, array);
  const phase = phaseNear(run, state.step), begin = phase === NONE ? 0 : run.phases[phase].first;
  const past = [], here = [];
  eachCell(grid, (row, col) => {
    const list = all.get(offsetOf(array, 0, row, col));
    if (!list || run.accesses.step[list[0]] > state.step || !list.some((a) => isDone(state, a))) return;
    const now = list.some((a) => run.accesses.step[a] >= begin && isDone(state, a));
    (now ? here : past).push([row, col]);
  });
  paint(grid, 'past-' + array.hue, past);
  paint(grid, 'phase-' + array.hue, here);
  writeGrid(scene, state, grid, array, 0);
}

/* By where the value is from; values of an earlier phase are paler. */
function paintShared(scene, state, array) {
  const { run } = scene, phase = phaseNear(run, state.step), begin = phase === NONE ? 0 : run.phases[phase].first;
  for (let slice = 0; slice < array.slices; slice++) {
    const grid = gridOf(scene, array, slice);
    const kinds = { 'past-a': [], 'past-b': [], past: [], 'phase-a': [], 'phase-b': [], phase: [], zero: [] };
    eachCell(grid, (row, col) => {
      const offset = offsetOf(array, slice, row, col), store = state.writer[array.number].get(offset);
      if (store === undefined) return;
      const origin = run.accesses.originArray[store];
      const hue = origin === NONE ? '' : '-' + run.arrays[origin].hue;
      kinds[(run.accesses.step[store] < begin ? 'past' : 'phase') + hue].push([row, col]);
      if (origin === NONE && run.accesses.value[store] === 0) kinds.zero.push([row, col]);
    });
    for (const [kind, cells] of Object.entries(kinds)) paint(grid, kind, cells);
    writeGrid(scene, state, grid, array, slice);
  }
}

function paintOutput(scene, state, array) {
  const { run } = scene, grid = gridOf(scene, array);
  const stored = [], missing = [], wrong = [], sums = [[], [], [], [], []];
  eachCell(grid, (row, col) => {
    const offset = offsetOf(array, 0, row, col), isStored = state.writer[array.number].has(offset);
    if (isStored) stored.push([row, col]);
    else sums[array.number === run.output ? quarterDone(state, offset) : 0].push([row, col]);
    if (array.unwrittenSet.has(offset)) missing.push([row, col]);
    if (array.wrongMap.has(offset) && (isStored || state.step === run.last)) wrong.push([row, col]);
  });
  for (let quarter = 1; quarter <= 4; quarter++) paint(grid, 'sum-' + quarter, sums[quarter]);
  paint(grid, 'stored', stored);
  paint(grid, 'missing', missing);
  paint(grid, 'wrong', wrong);
  const { rows, cols } = run.extents.all[array.number];
  outline(grid, 'own', isEmpty(rows) ? null : boxOf(grid.rows, grid.cols, rows, cols));
  writeGrid(scene, state, grid, array, 0);
}

/* How much of the element's sum is there, in quarters, before it is stored: 0 to 4. */
function quarterDone(state, offset) {
  const sum = state.step < 0 ? null : sumForElement(state.run, offset); /* the page opens without them */
  return sum ? Math.ceil(4 * termsDone(state, sum) / sum.terms.length) : 0;
}

/* What a cell shows, and how: an output may have sums that are not stored yet. */
function cellValue(state, array, offset) {
  const value = valueAt(state, array, offset);
  if (value !== undefined || array.number !== state.run.output || state.step < 0) return [value, ''];
  const sum = sumForElement(state.run, offset), done = sum ? termsDone(state, sum) : 0;
  return done ? [round(sum.terms[done - 1].sum), 'in-register'] : [undefined, ''];
}

/* Values where there is room, until there are enough of them; and which cells of the last row are none. */
function writeGrid(scene, state, grid, array, slice) {
  const none = [];
  if (array.words < array.slices * array.rows * array.cols)
    eachCell(grid, (row, col) => { if (offsetOf(array, slice, row, col) >= array.words) none.push([row, col]); });
  paint(grid, 'void', none);
  const values = [];
  const fit = textFit(grid.cols.cell, longestValue(scene.run, array));
  if (scene.valuesLeft > 0 && fit.room >= leastRoom(scene.run, array))
    eachCell(grid, (row, col) => {
      if (grid.cols.at.get(col)[1] < grid.cols.cell || grid.rows.at.get(row)[1] < grid.rows.cell) return;
      const [value, kind] = cellValue(state, array, offsetOf(array, slice, row, col));
      const text = formatShort(value, fit.room);
      if (text) values.push([row, col, text, kind]);
    });
  scene.valuesLeft -= values.length;
  writeValues(grid, values, fit.size);
}

/* Either all of an array's values or none: some of them would look as if the others were not there.
 * 4 characters are enough for any number, "118k", ".123". */
const leastRoom = (run, array) => Math.min(4, longestValue(run, array));

/* Of the values that are in the array at any time. */
function longestValue(run, array) {
  if (array.longest) return array.longest;
  array.longest = 1;
  const note = (value) => { array.longest = Math.max(array.longest, Math.min(7, formatNumber(value).length)); };
  if (array.initial) for (let i = 0; i < Math.min(array.initial.length, 4000); i++) note(array.initial[i]);
  for (const list of accessesOf(run, array).values())
    for (const a of list) if (siteOf(run, a).write) note(run.accesses.value[a]);
  return array.longest;
}

/* --- threads ---------------------------------------------------------------------------------- */

function cellOfThread(run, thread) {
  const { cols } = threadShape(run);
  return [Math.floor(thread / cols), thread % cols];
}

function threadOfCell(run, row, col) {
  const thread = row * threadShape(run).cols + col;
  return thread < run.threadCount ? thread : NONE;
}

function paintThreads(scene, state, selected) {
  const { run } = scene, grid = scene.grids.get('threads'), step = run.steps[state.step];
  const at = (threads) => threads.map((thread) => cellOfThread(run, thread));
  const acting = actingThreads(state), waits = waitingAt(run, state.step);
  const warp = step && step.warp >= 0 ? warpThreads(run, step.warp) : [];
  paint(grid, 'acting', at(acting));
  paint(grid, 'idle', at(state.lane === NONE && !isSingle(run, step) ? warp.filter((t) => !acting.includes(t)) : []));
  paint(grid, 'waiting', at(waits.waiting[0] || []));
  paint(grid, 'waiting-2', at(waits.waiting[1] || []));
  paint(grid, 'returned', at(waits.returned));
  const cells = at(warp), rows = cells.map((c) => c[0]), cols = cells.map((c) => c[1]);
  outline(grid, 'own', warp.length ? boxOf(grid.rows, grid.cols, [Math.min(...rows), Math.max(...rows)], [Math.min(...cols), Math.max(...cols)]) : null);
  paint(grid, 'mine', at([selected]));
}

const isSingle = (run, step) => Boolean(step) && run.as_run_from !== null && step.number >= run.as_run_from;

function warpThreads(run, warp) {
  const threads = [];
  for (let t = warp * WARP; t < Math.min((warp + 1) * WARP, run.threadCount); t++) threads.push(t);
  return threads;
}

function actingThreads(state) {
  const step = state.run.steps[state.step];
  if (!step) return [];
  if (step.warp < 0) return step.who || step.threads < state.run.threadCount ? [] : [...Array(state.run.threadCount).keys()];
  return lanesOf(step).filter((lane) => state.lane === NONE || lane === state.lane).map((lane) => step.warp * WARP + lane);
}

/* Who waits at which line, and who has returned, as far as the trace says: at a barrier at two lines,
 * and at the end. */
function waitingAt(run, number) {
  const step = run.steps[number];
  const isEnd = number === run.last && !run.left_out;
  const who = step && step.who ? step.who : isEnd ? run.end : null;
  if (!who) return { waiting: [], lines: [], returned: [] };
  const waiting = who.waiting || [];
  return { waiting: waiting.map((w) => expandThreads(w.threads)), lines: waiting.map((w) => w.line),
           returned: waiting.length ? expandThreads(who.returned || []) : [] };
}

/* --- the step itself -------------------------------------------------------------------------- */

function paintActing(scene, state, selection) {
  const { run } = scene, acting = actingAccesses(state);
  const { thread } = run.accesses;
  const kindOf = (a) => {
    const origin = run.accesses.originArray[a];
    return arrayOf(run, a).role === 'output' ? 'now-c' : origin === NONE ? 'now' : 'now-' + run.arrays[origin].hue;
  };
  const inside = acting.filter((a) => isInside(arrayOf(run, a), run.accesses.offset[a]));
  for (const kind of ['now-a', 'now-b', 'now-c', 'now'])
    paintEverywhere(scene, kind, cellsOf(scene, inside.filter((a) => kindOf(a) === kind)));
  const own = acting.filter((a) => thread[a] === selection.thread);
  paintMine(scene, own, selection.thread);
  paintEverywhere(scene, 'trail', trailOf(scene, state, selection.thread));
  paintEverywhere(scene, 'line', lineCells(scene, selection.line));
  drawArrows(scene, own, selection.thread);
}

/* The selected thread's cells; its elements of outputs always; and which elements of inputs its values
 * in shared memory are. */
function paintMine(scene, own, selected) {
  const { run } = scene, cells = cellsOf(scene, own), origins = new Map();
  for (const store of lastStores(run, selected)) addCell(scene, cells, arrayOf(run, store), run.accesses.offset[store]);
  for (const a of own) {
    const origin = run.accesses.originArray[a];
    if (origin !== NONE && arrayOf(run, a).role === 'shared' && !own.includes(run.accesses.from[a])) addCell(scene, origins, run.arrays[origin], run.accesses.originOffset[a]);
  }
  for (const [name, grid] of scene.grids) if (name !== 'threads') paint(grid, 'mine', cells.get(grid) || []);
  paintEverywhere(scene, 'origin', origins);
}

/* What the selected thread has read before in this interval. */
function trailOf(scene, state, selected) {
  const { run } = scene, step = run.steps[state.step];
  if (!step) return new Map();
  return cellsOf(scene, threadAccesses(run, selected).filter((a) => {
    const at = run.accesses.step[a];
    return at < state.step && run.steps[at].interval === step.interval && !siteOf(run, a).write;
  }));
}

/* All accesses of the selected line, at any time. */
function lineCells(scene, line) {
  if (!line) return new Map();
  const { run } = scene, cells = new Map();
  for (const array of run.arrays)
    for (const [offset, list] of accessesOf(run, array))
      if (list.some((a) => siteOf(run, a).line === line)) addCell(scene, cells, array, offset);
  return cells;
}

/* From what the selected thread loads to where it goes in this step: to shared memory, or into the
 * sum of its element of the output. */
function drawArrows(scene, own, selected) {
  const { run } = scene, paths = [];
  for (const a of own) {
    const load = run.accesses.from[a];
    if (siteOf(run, a).write && load !== NONE && own.includes(load)) paths.push(arrow(scene, cellMiddle(scene, load), cellMiddle(scene, a)));
  }
  const sum = currentSum(scene, selected);
  const target = sum && middleOf(gridOf(scene, run.arrays[run.output]), sum.row, sum.col);
  for (const a of own) if (sum?.operands.has(a)) paths.push(arrow(scene, cellMiddle(scene, a), target));
  scene.arrows.replaceChildren(...paths.filter(Boolean).map((d) => svg('path', { d, 'marker-end': 'url(#arrow-head)' })));
}

function currentSum(scene, selected) {
  const sum = sumsOf(scene.run, selected)[scene.sumNumber || 0];
  if (!sum || !sum.followed) return null;
  sum.operands ||= new Set(sum.terms.flatMap((term) => [term.a, term.b]));
  return sum;
}

function cellMiddle(scene, a) {
  const array = arrayOf(scene.run, a), { slice, row, col } = cellOf(array, scene.run.accesses.offset[a]);
  const grid = gridOf(scene, array, slice);
  return grid && middleOf(grid, row, col);
}

const arrow = (scene, begin, end) => begin && end && arrowPath(begin, end, scene.sizes.cell / 2);

/* --- the finding ------------------------------------------------------------------------------ */

/* Both parties of a race: their threads always, their element at their steps; what is outside. */
function paintFinding(scene, state) {
  const { run } = scene, { finding } = run;
  const outside = outsideAccesses(run).filter((a) => run.accesses.step[a] <= state.step);
  paintEverywhere(scene, 'outside', cellsOf(scene, outside));
  if (!finding) return;
  for (const [kind, party] of [['party', finding], ['party-2', finding.other]]) {
    const grid = scene.grids.get('threads');
    paint(grid, kind, party && party.thread ? [cellOfThread(run, threadNumber(run, party.thread))] : []);
  }
  paintElement(scene, finding);
}

function outsideAccesses(run) {
  run.outside ||= [...Array(run.accesses.count).keys()].filter((a) => !isInside(arrayOf(run, a), run.accesses.offset[a]));
  return run.outside;
}

function paintElement(scene, finding) {
  const { run } = scene;
  for (const array of run.arrays) {
    const { index } = finding;
    if (!index?.length || finding.variable !== array.name) continue;
    if (index.length === 2) {
      const grid = gridOf(scene, array);
      paint(grid, 'party', [index]);
      if (index[0] >= array.rows || index[1] >= array.cols) paint(grid, 'outside', [index]);
    } else {
      const cells = new Map();
      const offset = index.length === array.dims.length ? index.reduce((sum, i, d) => sum * array.dims[d] + i, 0) : index[0];
      addCell(scene, cells, array, offset);
      paintEverywhere(scene, 'party', cells);
    }
  }
}

/* --- what belongs to a cell ------------------------------------------------------------------- */

/* Outlines what the cell that is pointed at belongs to: where its value is from, who stored it and who
 * reads it; of an element with a sum its terms. */
function paintLinked(scene, state, subject) {
  const cells = new Map();
  if (subject && subject.array !== undefined) linkCell(scene, state, scene.run.arrays[subject.array], subject.offset, cells);
  else if (subject && subject.thread !== NONE) linkThread(scene, subject.thread, cells);
  paintEverywhere(scene, 'linked', cells);
}

function linkCell(scene, state, array, offset, cells) {
  const { run } = scene, threads = new Set(), store = state.writer[array.number].get(offset);
  if (store !== undefined) {
    threads.add(run.accesses.thread[store]);
    for (const a of chainOf(run, store)) addCell(scene, cells, arrayOf(run, a), run.accesses.offset[a]);
  }
  const readers = readersOf(run, array, offset, store);
  for (const a of readers) threads.add(run.accesses.thread[a]);
  for (const shared of run.shared)
    for (const [place, copy] of state.writer[shared.number])
      if (readers.includes(run.accesses.from[copy])) addCell(scene, cells, shared, place);
  const sum = array.number === run.output ? sumForElement(run, offset) : null;
  if (sum) for (const term of sum.terms) for (const a of [term.a, term.b]) linkOrigin(scene, a, cells);
  if (sum) threads.add(sum.thread);
  addCell(scene, cells, array, offset);
  cells.set(scene.grids.get('threads'), [...threads].map((thread) => cellOfThread(run, thread)));
}

function linkOrigin(scene, a, cells) {
  const { originArray, originOffset } = scene.run.accesses;
  if (originArray[a] !== NONE) addCell(scene, cells, scene.run.arrays[originArray[a]], originOffset[a]);
}

function linkThread(scene, thread, cells) {
  const { run } = scene;
  for (const a of lastStores(run, thread)) addCell(scene, cells, arrayOf(run, a), run.accesses.offset[a]);
  cells.set(scene.grids.get('threads'), [cellOfThread(run, thread)]);
}

/* --- pointing at cells ------------------------------------------------------------------------ */

/* What a grid shows: an array's slice, or threads. */
function subjectOf(scene, name) {
  if (name === 'threads') return { threads: true };
  const [number, slice] = name.split('-').map(Number);
  return { array: scene.run.arrays[number], slice };
}

/* One element of each grid can be focused: a cell, which arrow keys move. */
function addCursor(scene, name, grid) {
  grid.name = name;
  grid.cursor = svg('rect', { id: 'cursor-' + name, class: 'cursor-cell', tabindex: 0, role: 'button' });
  grid.body.append(grid.cursor);
  const [row, col] = scene.focusCell.get(name) || [grid.rows.focus[0], grid.cols.focus[0]];
  moveCursor(scene, grid, grid.rows.at.has(row) ? row : grid.rows.focus[0], grid.cols.at.has(col) ? col : grid.cols.focus[0]);
}

function moveCursor(scene, grid, row, col) {
  const y = grid.rows.at.get(row), x = grid.cols.at.get(col);
  if (!x || !y) return false;
  scene.focusCell.set(grid.name, [row, col]);
  const box = { x: x[0], y: y[0], width: x[1], height: y[1] };
  for (const [key, value] of Object.entries(box)) grid.cursor.setAttribute(key, value);
  grid.cursor.setAttribute('aria-label', cellLabel(scene, grid, row, col));
  return true;
}

function cellLabel(scene, grid, row, col) {
  const { array, slice, threads } = subjectOf(scene, grid.name);
  if (!threads) return elementName(array, offsetOf(array, slice, row, col)) + ', cell of ' + array.name;
  const thread = threadOfCell(scene.run, row, col);
  return thread === NONE ? 'no thread' : 'thread ' + threadName(scene.run, thread);
}

/* The neighbor that an arrow key leads to: the next cell that is drawn. */
function nextShown(axis, index, by) {
  const at = axis.shown.indexOf(index) + by;
  return axis.shown[Math.max(0, Math.min(axis.shown.length - 1, at))];
}

/* The cell under the pointer: {grid, row, col}; null: none. */
function cellAt(scene, event) {
  const node = event.target.closest && event.target.closest('.grid');
  const grid = node && [...scene.grids.values()].find((g) => g.node === node);
  if (!grid) return null;
  const frame = scene.node.getBoundingClientRect();
  const x = event.clientX - frame.left - grid.x - SIDE, y = event.clientY - frame.top - grid.y - TITLE - LABEL;
  const row = indexAt(grid.rows, y), col = indexAt(grid.cols, x);
  return row === undefined || col === undefined ? null : { grid, row, col };
}
