/* The data: the lab's arrays, in its panels; shared arrays beside the one that they are filled
 * from; the threads of the block. layoutScene() makes the grids anew when other elements come into
 * focus, or when the page gets another size; paintScene() marks what a step did.
 *
 * The whole picture is in the window: of an array with more than WHOLE rows or columns PART of them,
 * around what the selected thread accessed last. Where their numbers would be too small to be read,
 * there is a lens: a few rows and columns are in full size, the others small. */

const GAP = 16;              /* between grids */
const WHOLE = 80, PART = 32; /* rows or columns */

/* --- what is in focus ------------------------------------------------------------------------- */

/* The arrays whose rows, or columns, line up with those of this one, and itself. */
function linedUp(run, array, axis) {
  if (array.role === 'shared') return [array];
  const lead = ({ number, panel }) => (panel[axis + '_with'] === NONE ? number : panel[axis + '_with']);
  return run.globals.filter((other) => lead(other) === lead(array));
}

/* By array the cell of it that the selected thread accessed last, or will first, and when; for a
 * copy in shared memory also the element that it was copied from. Of an output that is missing or
 * wrong the first element, unless the thread stores one itself; of others what the block accesses. */
function cellsAt({ run, selection }, step) {
  const cells = new Map(), amiss = firstAmiss(run);
  const see = (place, a) => {
    if (a.step <= step || !cells.has(place.array)) cells.set(place.array, { ...cellOf(place), when: a.number });
  };
  for (const a of run.ofThread[selection.thread]) {
    see(a, a);
    if (a.array.role === 'shared' && a.origin) see(a.origin, a);
  }
  if (amiss && !cells.has(amiss.array)) see(amiss, { number: run.accesses.length });
  for (const array of run.arrays.filter((each) => each.accesses.size && !cells.has(each)))
    see({ array, offset: array.accesses.keys().next().value }, { number: NONE });
  return cells;
}

/* Of this range the `most` indices, in steps of as many, that `at` is one of. */
function partOf([first, last], at, most) {
  if (last - first < most) return [first, last];
  const inside = Math.max(first, Math.min(last, at)), turn = Math.floor((inside - first) / most);
  const begin = Math.min(first + turn * most, last - most + 1);
  return [begin, begin + most - 1];
}

/* Of all arrays and of the threads the rows and columns that are shown, and those in full size; `lens`:
 * how many these may be. */
function focusOf(scene, step, lens) {
  const { run, selection } = scene, cells = cellsAt(scene, step), shape = threadShape(run);
  const part = (count, at = 0) => {
    const shown = partOf([0, count - 1], at, count > WHOLE ? PART : count);
    return { shown, focus: partOf(shown, at, lens) };
  };
  const axisOf = (array, axis, index) => {
    const seen = linedUp(run, array, axis).map((each) => cells.get(each)).filter(Boolean);
    return part(array[axis], seen.sort((x, y) => y.when - x.when)[0]?.[index]);
  };
  const [row, col] = cellOfThread(run, selection.thread);
  return {
    arrays: run.arrays.map((array) =>
      ({ rows: axisOf(array, 'rows', 'row'), cols: axisOf(array, 'cols', 'col') })),
    threads: { rows: part(shape.rows, row), cols: part(shape.cols, col) },
  };
}

/* --- what lies outside ------------------------------------------------------------------------ */

const MOST_GHOSTS = 3;

/* Rows and columns outside the array that the block accesses or the finding names: those next to it. */
function ghostsOf(run, array) {
  const named = findingCell(run, array), places = [...array.accesses.keys()].map((offset) => ({ array, offset }));
  const rows = places.filter((place) => !isInside(place)).map((place) => cellOf(place).row);
  const nearest = (indices, count) => ascending(indices).filter((i) => i < 0 || i >= count)
    .sort((a, b) => Math.max(-a, a - count) - Math.max(-b, b - count)).slice(0, MOST_GHOSTS).sort((a, b) => a - b);
  if (named) rows.push(named.row);
  return { rows: nearest(rows, array.rows), cols: nearest(named ? [named.col] : [], array.cols) };
}

/* The element that the finding names, if it is of this array and has a row and a column. */
function findingCell({ finding }, array) {
  if (!finding || finding.variable !== array.name || finding.index?.length !== 2) return null;
  return { row: finding.index[0], col: finding.index[1] };
}

/* --- sizes ------------------------------------------------------------------------------------ */

/* The input that a shared array is first filled from; undefined: it is not known. */
const partnerOf = ({ accesses }) =>
  [...accesses.values()].flat().find(({ origin }) => origin)?.origin.array;

/* Grids by their names, in cells of the lab's panels and beside their rows. Shared arrays are in a
 * free panel above or below the array that they are filled from, else beside it; threads are in one
 * where nothing is shared, else beside the last row, or below a single column. */
function makePanels(run) {
  const count = (axis) => 1 + Math.max(...run.globals.map(({ panel }) => panel[axis]));
  const cells = Array.from({ length: count('row') }, () => Array.from({ length: count('col') }, () => []));
  const beside = cells.map(() => []), last = beside.at(-1), unknown = [], below = [];
  for (const array of run.globals) cells[array.panel.row][array.panel.col].push(gridName(array));
  const free = cells.flatMap((row) => row.map((names, col) => ({ names, col }))).filter(({ names }) => !names.length);
  for (const array of run.shared) {
    const panel = partnerOf(array)?.panel;
    const names = panel && (free.find(({ col }) => col === panel.col)?.names || beside[panel.row]);
    (names || unknown).push(gridName(array));
  }
  const side = cells[0].length > 1 ? last : below;
  (!run.shared.length && free.length ? free[0].names : side).push('threads');
  last.push(...unknown);
  return { cells: below.length ? [...cells, [below]] : cells, beside };
}

const gridName = ({ number }) => String(number);

/* A row of threads is drawn warp by warp. */
function threadShape({ launch: { block: [x, y, z] }, threadCount }) {
  const cols = y * z === 1 ? Math.min(x, WARP) : x;
  return { cols, rows: Math.ceil(threadCount / cols) };
}

/* All grids for cells of these sizes, not yet placed, by name: what makeGrid() takes, and what they
 * show. Threads have no numbers: in a lens they are smaller than elements. */
function planGrids(run, { arrays, threads }, { cell, context, lens }) {
  const plans = new Map(), shape = threadShape(run), usual = lens === Infinity ? cell : THREAD;
  const plan = (name, rows, cols, title, shown) => plans.set(name,
    { id: 'grid-' + name, name, title, rows, cols, ...gridSize(rows, cols, title), ...shown });
  for (const array of run.arrays) {
    const { rows, cols } = arrays[array.number], { name, dims, hue } = array;
    const ghosts = (array.ghosts ||= ghostsOf(run, array));
    const isShared = array.role === 'shared';
    const unit = !isShared && dims.length === 1 ? array.cols : 1;
    const title = isShared ? bracketed(name, dims) : `${name}  ${dims.join(' × ')}`;
    plan(gridName(array),
         makeAxis(array.rows, cell, { ...rows, context, ghosts: ghosts.rows, unit }),
         makeAxis(array.cols, cell, { ...cols, context, ghosts: ghosts.cols }),
         title, { array, hue });
  }
  const size = shape.cols > WIDE ? SMALL_THREAD : usual, around = Math.min(size, context);
  const axis = (which) => makeAxis(shape[which], size, { ...threads[which], context: around });
  plan('threads', axis('rows'), axis('cols'), 'threads: x →, y ↓', { hue: 'thread' });
  return plans;
}

const widest = (plans) => Math.max(0, ...plans.map((g) => g.width));
const stackHeight = (plans) => plans.reduce((sum, g) => sum + g.height + GAP, 0);

/* Gives each plan its x and y. */
function arrange(run, plans, { cells, beside }) {
  const of = (names) => names.map((name) => plans.get(name)), lastRow = cells.length - 1, lastCol = cells[0].length - 1;
  const widthOf = (col) => widest(of(cells.flatMap((row) => row[col]))) + GAP;
  const heightOf = (row) => Math.max(...cells[row].map((names) => stackHeight(of(names))));
  const x = [Math.max(...[...plans.values()].map((plan) => labelBeyond(plan.rows)))], y = [0];
  for (let c = 0; c < lastCol; c++) x.push(x[c] + widthOf(c));
  for (let r = 0; r < lastRow; r++) y.push(y[r] + heightOf(r));
  const top = (r, list) => (r < lastRow ? y[r + 1] - stackHeight(list) : y[r]);
  cells.forEach((row, r) => row.map(of).forEach((list, c) =>
    stack(list, (plan) => (c < lastCol ? x[c + 1] - GAP - plan.width : x[c]), top(r, list))));
  lineUp(run, plans);
  const right = x[lastCol] + widthOf(lastCol);
  beside.map(of).reduce((end, list, r) => stack(list, () => right, Math.max(end, top(r, list))), 0);
  const end = (at, size) => Math.max(...[...plans.values()].map((g) => g[at] + g[size])) + 4;
  return { plans, width: end('x', 'width'), height: end('y', 'height') };
}

function lineUp(run, plans) {
  const planOf = (number) => plans.get(gridName({ number }));
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

const LARGEST = 46, LARGEST_CONTEXT = 12, SMALLEST_CONTEXT = 1; /* pixels: cells, and those outside of a lens */
const THREAD = 20, SMALL_THREAD = 8, WIDE = 16; /* in a lens; in blocks of more columns than WIDE */
const LENSES = [Infinity, 8, 4, 3, 2]; /* rows and columns in full size; Infinity: there is no lens */

/* The picture with this in focus and cells of these sizes: as large at all steps. */
function pictureOf({ run, panels }, focus, sizes) {
  return arrange(run, planGrids(run, focus, sizes), panels);
}

/* The largest cells with which the picture fits; else of a lens and around it. Where nothing fits, it
 * scrolls: numbers stay large enough to be read. */
function chooseSizes(scene) {
  const { run, room } = scene;
  /* In which the values of all arrays but outputs can be read, whose sums may be longer. */
  const least = leastCell(Math.max(...[...run.inputs, ...run.shared].map(leastRoom)));
  const fits = (sizes) => {
    const { width, height } = pictureOf(scene, focusOf(scene, NONE, sizes.lens), sizes);
    return width <= room.width && height <= room.height;
  };
  const all = LENSES.flatMap((lens) => sizesOf(lens, least)), sizes = all.find(fits) || all.at(-1);
  const most = Math.min(sizes.cell, LARGEST_CONTEXT);
  while (sizes.context < most && fits({ ...sizes, context: sizes.context + 0.25 })) sizes.context += 0.25;
  return sizes;
}

/* From the largest one down. */
function sizesOf(lens, least) {
  const cells = Array.from({ length: LARGEST - least + 1 }, (_, i) => LARGEST - i);
  if (lens === Infinity) return cells.map((cell) => ({ cell, context: cell, lens }));
  return cells.filter((cell) => cell <= leastCell(4)).map((cell) => ({ cell, context: SMALLEST_CONTEXT, lens }));
}

/* --- the picture ------------------------------------------------------------------------------ */

function makeScene({ run, state, selection }, container) {
  const scene = { run, state, selection, container, panels: makePanels(run), grids: new Map(),
                  focusCell: new Map(), measured: '', key: '' };
  const { arrays } = run.words, label = arrays[0].toUpperCase() + arrays.slice(1) + ', shared memory and threads';
  scene.node = svg('svg', { id: 'scene', role: 'group', 'aria-label': label });
  container.append(scene.node);
  return scene;
}

const LEAST_HEIGHT = 300, BELOW = 20;

/* What the window has left for the picture, with the legend below it; where the code is above it
 * instead of beside it, the window below the bar. */
function roomFor({ container }) {
  const nodes = [byId('data-pane'), container, container.nextElementSibling, byId('time'), byId('code-pane')];
  const [pane, box, legend, bar, code] = nodes.map((node) => node.getBoundingClientRect());
  const above = code.right < pane.left ? box.top + window.scrollY : bar.height + box.top - pane.top;
  const height = window.innerHeight - above - (legend.bottom - box.bottom + BELOW);
  return { width: container.clientWidth - 4, height: Math.max(LEAST_HEIGHT, height) };
}

const sizeKey = ({ container }) =>
  [window.innerWidth, window.innerHeight, container.clientWidth].join();

/* Makes the grids anew if other elements are in focus now, or if the page has another size. Sizes
 * are chosen only if the window or the pane has changed: a longer sentence is not to move the
 * picture. */
function layoutScene(scene) {
  const { state: { step }, measured } = scene, size = sizeKey(scene);
  if (size !== measured) {
    Object.assign(scene, { measured: size, room: roomFor(scene) });
    scene.sizes = chooseSizes(scene);
  }
  const focus = focusOf(scene, step, scene.sizes.lens), key = JSON.stringify([focus, size]);
  if (key === scene.key) return;
  scene.key = key;
  drawScene(scene, pictureOf(scene, focus, scene.sizes), scene.sizes);
}

function drawScene(scene, { plans, width, height }, { cell }) {
  const focused = document.activeElement?.closest('#scene') && document.activeElement.id;
  const grids = [...plans.values()].map((plan) => ({ ...plan, ...makeGrid(plan) }));
  scene.cell = cell;
  scene.node.setAttribute('width', width);
  scene.node.setAttribute('height', height);
  scene.grids = new Map(grids.map((grid) => [grid.name, grid]));
  scene.arrows = svg('g', { class: 'arrows' });
  scene.node.replaceChildren(hatchings(), ...grids.map((grid) => grid.node), scene.arrows);
  for (const grid of grids) addCursor(scene, grid);
  if (focused) byId(focused)?.focus({ preventScroll: true });
}

const gridOf = (scene, array) => scene.grids.get(gridName(array));

/* Grid -> its cells for these places. */
function cellsOf(scene, places) {
  const cells = new Map();
  for (const place of places) {
    const { row, col } = cellOf(place);
    addTo(cells, gridOf(scene, place.array), [row, col]);
  }
  return cells;
}

function paintEverywhere(scene, kind, places) {
  const cells = cellsOf(scene, places);
  for (const grid of scene.grids.values()) paint(grid, kind, cells.get(grid) || []);
}

function paintScene(scene) {
  layoutScene(scene);
  const { shared, inputs, outputs } = scene.run;
  for (const array of shared) paintShared(scene, array);
  for (const array of inputs) paintInput(scene, array);
  for (const array of outputs) paintOutput(scene, array);
  paintThreads(scene);
  paintActing(scene);
  paintFinding(scene);
}

/* --- what has happened ------------------------------------------------------------------------ */

/* The cells that are drawn, with their places; without ghosts. */
function drawnCells(grid) {
  const inside = ({ shown, count }) => shown.filter((i) => i >= 0 && i < count), cols = inside(grid.cols);
  return (grid.drawn ||= inside(grid.rows).flatMap((row) =>
    cols.map((col) => ({ cell: [row, col], place: placeOf(grid.array, row, col) }))));
}

/* Paints the cells of each kind, by what `kindsOf` says of a place, and all of its array's values. */
function paintCells(scene, grid, kinds, kindsOf) {
  const cells = new Map(kinds.map((kind) => [kind, []]));
  for (const { cell, place } of drawnCells(grid)) for (const kind of kindsOf(place)) cells.get(kind)?.push(cell);
  for (const [kind, list] of cells) paint(grid, kind, list);
  writeGrid(scene, grid);
}

/* The first step of the phase that is shown. */
const phaseBegin = ({ run, state }) => run.phases[phaseNear(run, state.step)]?.first ?? 0;

/* Loaded by the block in this phase, or before it. */
function paintInput(scene, array) {
  const { state } = scene, begin = phaseBegin(scene), kinds = ['past-' + array.hue, 'phase-' + array.hue];
  paintCells(scene, gridOf(scene, array), kinds, ({ offset }) => {
    const last = array.accesses.get(offset)?.findLast((a) => isDone(state, a));
    return last ? [kinds[last.step < begin ? 0 : 1]] : [];
  });
}

const SHARED_KINDS = ['past-a', 'past-b', 'past', 'phase-a', 'phase-b', 'phase', 'zero'];

/* By where the value is from; values of an earlier phase are paler. */
function paintShared(scene, array) {
  const begin = phaseBegin(scene);
  paintCells(scene, gridOf(scene, array), SHARED_KINDS, (place) => {
    const store = storeAt(scene.state, place);
    if (!store) return [];
    const hue = store.origin ? '-' + store.origin.array.hue : '';
    const zero = !store.origin && store.value === 0 ? 'zero' : '';
    return [(store.step < begin ? 'past' : 'phase') + hue, zero];
  });
}

const OUTPUT_KINDS = ['sum-1', 'sum-2', 'sum-3', 'sum-4', 'stored', 'missing', 'wrong'];

function paintOutput(scene, array) {
  const { run, state } = scene, grid = gridOf(scene, array);
  paintCells(scene, grid, OUTPUT_KINDS, (place) => {
    const { offset } = place, isStored = storeAt(state, place) !== null, isEnd = state.step === run.last;
    const sum = isStored ? null : sumAt(state, place);
    const quarters = sum ? Math.ceil(4 * termsDone(state, sum) / sum.terms.length) : 0;
    const kinds = [isStored ? 'stored' : 'sum-' + quarters];
    if (array.unwrittenSet.has(offset)) kinds.push('missing');
    if (array.wrongMap.has(offset) && (isStored || isEnd)) kinds.push('wrong');
    return kinds;
  });
  outline(grid, 'own', boxOf(grid.rows, grid.cols, ...(array.part ||= ownPart(run, array))));
}

/* The rows and the columns of an output that the block accesses. */
function ownPart(run, array) {
  const part = [[Infinity, -Infinity], [Infinity, -Infinity]];
  for (const offset of array.accesses.keys()) {
    const place = { array, offset }, { row, col } = cellOf(place);
    if (isInside(place))
      [row, col].forEach((i, axis) => { part[axis] = [Math.min(part[axis][0], i), Math.max(part[axis][1], i)]; });
  }
  return run.isCut && run.launch.block[1] > 1 && array.dims.length === 2 ? part.map(completed(run, array)) : part;
}

/* Of a run that was stopped, or a recording that was cut, only a corner of the block's part may
 * have been accessed: it is as large as the block has threads. */
const completed = ({ launch, block }, { dims, by }) => (range, axis) => {
  const way = by.indexOf(axis), size = launch.block[way === NONE ? 1 - axis : way];
  const first = way === NONE ? Math.min(range[0] - range[0] % size, 0) : block[way] * size;
  const last = Math.min(first + size, dims[axis]) - 1;
  return range[0] > range[1] || (range[0] >= first && range[1] <= last) ? [first, last] : range;
};

/* The page opens without them. */
const sumAt = ({ run, step }, { array, offset }) =>
  (step >= 0 && array === run.output ? sumForElement(run, offset) : null);

/* What a cell shows, and how: an output may have sums that are not stored yet. */
function cellValue(state, place) {
  const value = valueAt(state, place), sum = value === undefined && sumAt(state, place);
  const { done, value: soFar } = sum ? sumSoFar(state, sum) : {};
  return done ? [soFar, 'in-register'] : [value, ''];
}

/* Values where there is room, so not in the context of a lens; and which cells of the last row are
 * none. */
function writeGrid(scene, grid) {
  const { array, rows, cols } = grid, fit = textFit(cols.cell, longestValue(array)), all = drawnCells(grid);
  const hasRoom = fit.room >= leastRoom(array), values = [];
  const isFull = (axis, i) => axis.at.get(i)[1] >= axis.cell;
  paint(grid, 'void', all.filter(({ place }) => place.offset >= array.words).map(({ cell }) => cell));
  for (const { cell: [row, col], place } of hasRoom ? all : []) {
    if (!isFull(rows, row) || !isFull(cols, col)) continue;
    const [value, kind] = cellValue(scene.state, place), text = formatShort(value, fit.room);
    if (text) values.push([row, col, text, kind]);
  }
  writeValues(grid, values, fit.size);
}

/* Either all of an array's values or none: some of them would look as if the others were not there.
 * 4 characters are enough for any number, "118K", ".123". */
const leastRoom = (array) => Math.min(4, longestValue(array));

/* Of the values that are in the array at any time. */
function longestValue(array) {
  const stored = () => [...array.accesses.values()].flat().filter((a) => a.write).map((a) => a.value);
  const longest = () => [...(array.initial || []).slice(0, 4000), ...stored()]
    .reduce((most, value) => Math.max(most, formatNumber(value).length), 1);
  return (array.longest ||= Math.min(7, longest()));
}

/* --- threads ---------------------------------------------------------------------------------- */

function cellOfThread(run, thread) {
  const { cols } = threadShape(run);
  return [Math.floor(thread / cols), thread % cols];
}

function paintThreads({ run, state, selection, grids }) {
  const grid = grids.get('threads'), step = run.steps[state.step], acting = actingThreads(state);
  const at = (threads = []) => threads.map((thread) => cellOfThread(run, thread));
  const { waiting, returned } = waitingAt(run, state.step);
  const warp = step && step.warp >= 0 ? warpThreads(run, step.warp) : [];
  const hasIdle = state.lane === NONE && !isSingle(run, step);
  paint(grid, 'acting', at(acting));
  paint(grid, 'idle', at(hasIdle ? warp.filter((t) => !acting.includes(t)) : []));
  paint(grid, 'waiting', at(waiting[0]?.threads));
  paint(grid, 'waiting-2', at(waiting[1]?.threads));
  paint(grid, 'returned', at(returned));
  paint(grid, 'mine', at([selection.thread]));
  const [rows, cols] = [0, 1].map((axis) => at(warp).map((cell) => cell[axis]));
  const rangeOf = (numbers) => [Math.min(...numbers), Math.max(...numbers)];
  outline(grid, 'own', boxOf(grid.rows, grid.cols, rangeOf(rows), rangeOf(cols)));
}

const isSingle = (run, step) => Boolean(step) && run.as_run_from !== null && step.number >= run.as_run_from;

const warpThreads = (run, warp) => range(warp * WARP, Math.min((warp + 1) * WARP, run.threadCount));

function actingThreads({ run, step: number, lane }) {
  const step = run.steps[number];
  if (!step) return [];
  if (step.warp < 0) return step.who || step.threads < run.threadCount ? [] : range(0, run.threadCount);
  return step.lanes.filter((each) => lane === NONE || each === lane).map((each) => step.warp * WARP + each);
}

/* Who waits at which line, and who has returned, as far as the trace says: at a barrier at two
 * lines, and at the end. */
function waitingAt(run, number) {
  const nobody = { waiting: [], returned: [] }, isEnd = number === run.last && !run.left_out;
  const who = run.steps[number]?.who || (isEnd ? run.end : nobody);
  return who.waiting.length ? who : nobody;
}

/* --- the step itself -------------------------------------------------------------------------- */

function paintActing(scene) {
  const { run, state, selection } = scene, acting = actingAccesses(state);
  const kindOf = ({ array, origin }) =>
    (array.role === 'output' ? 'now-c' : origin ? 'now-' + origin.array.hue : 'now');
  for (const kind of ['now-a', 'now-b', 'now-c', 'now'])
    paintEverywhere(scene, kind, acting.filter((a) => isInside(a) && kindOf(a) === kind));
  const own = acting.filter((a) => a.thread === selection.thread), interval = run.steps[state.step]?.interval;
  paintMine(scene, own);
  /* What the selected thread has read before in this interval; and all that the selected line accesses, at any time. */
  paintEverywhere(scene, 'trail', run.ofThread[selection.thread].filter((a) =>
    !a.write && a.step < state.step && run.steps[a.step].interval === interval));
  const lists = selection.line ? run.arrays.flatMap(({ accesses }) => [...accesses.values()]) : [];
  paintEverywhere(scene, 'line',
    lists.filter((list) => list.some((a) => a.site.line === selection.line)).map(([place]) => place));
  drawArrows(scene, own);
}

/* The selected thread's cells; its elements of outputs always; and which elements of inputs its
 * values in shared memory are. */
function paintMine(scene, own) {
  const cells = cellsOf(scene, [...own, ...lastStores(scene.run, scene.selection.thread)]);
  for (const grid of scene.grids.values()) if (grid.array) paint(grid, 'mine', cells.get(grid) || []);
  const copies = own.filter((a) => a.origin && a.array.role === 'shared' && !own.includes(a.from));
  paintEverywhere(scene, 'origin', copies.map((a) => a.origin));
}

/* From what the selected thread loads to where it goes in this step: to shared memory, or into the
 * sum of its element of the output. */
function drawArrows(scene, own) {
  const { run, selection } = scene, sum = sumsOf(run, selection.thread)[selection.sum];
  const middleAt = (place, { row, col } = cellOf(place)) =>
    middleOf(gridOf(scene, place.array), row, col);
  const stores = own.filter((a) => own.includes(a.from));
  if (sum?.followed) sum.operands ||= new Set(sum.terms.flatMap(({ a, b }) => [a, b]));
  const ends = [...stores.map((a) => [a.from, middleAt(a)]),
                ...own.filter((a) => sum?.operands?.has(a)).map((a) => [a, middleAt(sum.store, sum)])];
  const paths = ends.map(([load, to]) => [middleAt(load), to]).filter(([from, to]) => from && to);
  scene.arrows.replaceChildren(...paths.map(([from, to]) =>
    svg('path', { d: arrowPath(from, to, scene.cell / 2), 'marker-end': 'url(#arrow-head)' })));
}

/* --- the finding ------------------------------------------------------------------------------ */

/* Both parties of a race: their threads always, their element at their steps; what is outside. */
function paintFinding(scene) {
  const { run, state, grids } = scene, { finding } = run;
  paintEverywhere(scene, 'outside', outsideAccesses(run).filter((a) => a.step <= state.step));
  if (!finding) return;
  for (const [kind, { thread }] of [['party', finding], ['party-2', finding.other]])
    paint(grids.get('threads'), kind, thread ? [cellOfThread(run, threadNumber(run, thread))] : []);
  const { index, variable } = finding;
  for (const array of index?.length ? run.arrays.filter(({ name }) => name === variable) : []) {
    const [row, col] = index, isWhole = index.length === array.dims.length;
    if (index.length !== 2) {
      paintEverywhere(scene, 'party', [{ array, offset: isWhole ? offsetOf(array, index) : row }]);
      continue;
    }
    paint(gridOf(scene, array), 'party', [index]);
    if (row >= array.rows || col >= array.cols) paint(gridOf(scene, array), 'outside', [index]);
  }
}

const outsideAccesses = (run) => (run.outside ||= run.accesses.filter((a) => !isInside(a)));

/* --- pointing at cells ------------------------------------------------------------------------ */

/* What a cell of the picture stands for: a place or {thread}. */
function subjectAt(run, { array }, row, col) {
  const thread = row * threadShape(run).cols + col;
  return array ? placeOf(array, row, col) : { thread: thread < run.threadCount ? thread : NONE };
}

/* One element of each grid can be focused: a cell, which arrow keys move. */
function addCursor(scene, grid) {
  grid.cursor = svg('rect', { id: 'cursor-' + grid.name, class: 'cursor-cell', tabindex: 0, role: 'button' });
  grid.body.append(grid.cursor);
  const { rows, cols } = grid, [row, col] = scene.focusCell.get(grid.name) || [];
  moveCursor(scene, grid, rows.at.has(row) ? row : rows.focus[0], cols.at.has(col) ? col : cols.focus[0]);
}

function moveCursor(scene, grid, row, col) {
  const { run } = scene, { array } = grid, subject = subjectAt(run, grid, row, col);
  const label = array ? `${elementName(subject)}, cell of ${array.name}`
    : subject.thread === NONE ? 'no thread' : 'thread ' + threadName(run, subject.thread);
  const attributes = { ...cellBox(grid, row, col), 'aria-label': label };
  scene.focusCell.set(grid.name, [row, col]);
  for (const [key, value] of Object.entries(attributes)) grid.cursor.setAttribute(key, value);
}

/* The neighbor that an arrow key leads to: the next cell that is drawn. */
function nextShown({ shown }, index, by) {
  return shown[Math.max(0, Math.min(shown.length - 1, shown.indexOf(index) + by))];
}

/* The cell under the pointer: {grid, row, col}; null: none. */
function cellAt(scene, event) {
  const node = event.target.closest('.grid'), grid = [...scene.grids.values()].find((g) => g.node === node);
  if (!grid) return null;
  const frame = scene.node.getBoundingClientRect();
  const x = event.clientX - frame.left - grid.x - SIDE, y = event.clientY - frame.top - grid.y - TITLE - LABEL;
  const row = indexAt(grid.rows, y), col = indexAt(grid.cols, x);
  return row === undefined || col === undefined ? null : { grid, row, col };
}
