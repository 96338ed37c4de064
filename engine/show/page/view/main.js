/* The page: what is selected, where time is, and what is drawn then. */

/* For tests and the curious, read-only but for goto():
 *     walk.goto(step, lane)   shows the state after the step (-1: before the first one); with a lane
 *                             (0 to 31) only of it and the lanes below have run
 *     walk.step, walk.lane    what is shown; lane -1: the whole step
 *     walk.steps              how many steps there are
 *     walk.thread, walk.line  what is selected
 *     walk.state(array)       the array's values now, by number or name: [{offset, element, value,
 *                             writer: {thread, step} or null}, ...], of what is known
 *     walk.about(array, offset)    what the page says about this element now, in lines
 *     walk.sums(thread)       [{element, followed, done, terms, sum, stored}, ...]
 *     walk.loads              loads of inputs so far by this block
 *     walk.run                the data, decoded */
function makeHooks(app) {
  const find = (which) => app.run.arrays.find((array) => array.number === which || array.name === which);
  return Object.freeze({
    goto: (step, lane = NONE) => goTo(app, { step, lane }),
    get step() { return app.state.step; },
    get lane() { return app.state.lane; },
    get steps() { return app.run.steps.length; },
    get thread() { return app.selection.thread; },
    get line() { return app.selection.line; },
    get loads() { return loadsSoFar(app.state); },
    get run() { return app.run; },
    state: (which) => stateOf(app, find(which)),
    about: (which, offset) => describeCell(app.state, find(which), offset),
    sums: (thread) => sumsOf(app.run, thread).map((sum) => summarize(app, sum)),
  });
}

function stateOf({ run, state }, array) {
  const list = [];
  for (let offset = 0; offset < array.words; offset++) {
    const value = valueAt(state, array, offset), store = state.writer[array.number].get(offset);
    if (value === undefined) continue;
    const writer = store === undefined ? null : { thread: run.accesses.thread[store], step: run.accesses.step[store] };
    list.push({ offset, element: elementName(array, offset), value, writer });
  }
  return list;
}

function summarize({ run, state }, sum) {
  const done = sum.followed ? termsDone(state, sum) : 0;
  return { element: elementName(run.arrays[run.output], sum.offset), followed: sum.followed, done, terms: sum.terms.length,
           sum: done ? round(sum.terms[done - 1].sum) : 0, stored: sum.stored };
}

/* --- moving ----------------------------------------------------------------------------------- */

/* null: there is nothing to go to. */
function goTo(app, target) {
  if (!target) return;
  const step = clampStep(app.run, target.step), lane = target.lane === undefined ? NONE : target.lane;
  const isBarrier = step < 0 || app.run.steps[step].warp < 0;
  moveTo(app.state, step, isBarrier ? NONE : lane);
  if (app.state.lane !== NONE) app.selection.thread = app.run.steps[step].warp * WARP + app.state.lane;
  update(app);
}

/* Forward, but not past a barrier with a question. */
function goForward(app, target) {
  if (!target || app.predict.asked) return;
  const question = questionBetween(app, app.state.step, target.step);
  if (!question) return goTo(app, target);
  goTo(app, { step: question.barrier - 1 });
  if (app.playing) stopPlaying(app);
  ask(app, question);
}

function selectThread(app, thread) {
  if (thread === NONE) return;
  app.selection.thread = thread;
  byId('sum-element').value = '0';
  app.scene.sumNumber = 0;
  update(app);
}

function selectLine(app, line) {
  app.selection.line = app.selection.line === line ? 0 : line;
  update(app);
}

function update(app) {
  updateTime(app);
  updateWords(app); /* first: the picture gets the room that they leave */
  paintScene(app.scene, app.state, app.selection);
  updateCode(app);
  updateIndex(app);
  updateSum(app);
  updateStrips(app);
  updateTotals(app);
  updateTable(app);
  updateCell(app);
  writeFragment(app);
}

function updateWords(app) {
  const { run, state, selection } = app;
  byId('sentence').textContent = sentenceAt(state, selection.thread);
  byId('thread-name').textContent = threadName(run, selection.thread);
  byId('as-run').hidden = !isSingle(run, run.steps[state.step]);
  const after = run.undefinedAfter;
  byId('undefined').hidden = after < 0 || state.step < after;
  byId('undefined').textContent = `At step ${after} not all threads were at the same __syncthreads(). On a GPU, what follows is undefined. ` +
    'The steps from here on are what happened in this run.';
  const steps = selection.line ? run.steps.filter((s) => s.line === selection.line).length : 0;
  byId('line-words').textContent = !selection.line ? ''
    : `Line ${selection.line} is selected: ` + (steps ? `${plural(steps, 'step')}. Keys l and L go to the next and the previous one.` : 'it makes no step.');
}

/* --- the sum ---------------------------------------------------------------------------------- */

const TERMS_SHOWN = 5, BESIDE_FINDING = 3; /* which leaves less room */

function updateSum(app) {
  const { run, state, selection, scene } = app, sums = sumsOf(run, selection.thread);
  if (!run.sum) return;
  fillSumChoice(app, sums);
  const sum = sums[scene.sumNumber || 0], box = byId('sum');
  byId('sum-title').textContent = 'Sum of thread ' + threadName(run, selection.thread);
  if (!sum) return void box.replaceChildren(element('p', 'quiet', noSumText(run, selection.thread)));
  const name = elementName(run.arrays[run.output], sum.offset);
  if (!sum.followed)
    return void box.replaceChildren(element('p', 'quiet', `The thread ${verbsOf(siteOf(run, sum.store))} ${name}: ${valueText(run, sum.store)}. This sum cannot be shown: ` +
      'registers and shuffles are not recorded, and what this thread read does not add up to the stored value.'));
  box.replaceChildren(...drawSum(state, sum, name));
}

const noSumText = (run, thread) => 'Thread ' + threadName(run, thread) + ' stores no element of ' + run.arrays[run.output].name + ' in this recording, so no sum is shown.';

function fillSumChoice(app, sums) {
  const choice = byId('sum-element');
  choice.parentNode.hidden = sums.length < 2;
  if (app.sumsShown === sums) return;
  app.sumsShown = sums;
  choice.replaceChildren(...sums.map((sum, i) => {
    const option = element('option', '', elementName(app.run.arrays[app.run.output], sum.offset));
    option.value = i;
    return option;
  }));
  choice.value = app.scene.sumNumber || 0;
}

function drawSum(state, sum, name) {
  const { run } = state, done = termsDone(state, sum), now = done ? round(sum.terms[done - 1].sum) : 0;
  const head = element('p', 'sum-head');
  head.append(element('code', '', `${name}: `), element('strong', '', formatNumber(now)),
    ` after ${done} of ${plural(sum.terms.length, 'product')}`);
  const strip = element('div', 'sum-strip');
  const bar = element('span', 'sum-bar');
  bar.style.width = 100 * done / sum.terms.length + '%';
  strip.append(bar);
  const list = element('ol', 'terms');
  const shown = run.finding ? BESIDE_FINDING : TERMS_SHOWN;
  const first = Math.max(0, Math.min(done - shown + 2, sum.terms.length - shown));
  sum.terms.slice(first, first + shown).forEach((term, i) => list.append(termRow(run, term, first + i, done)));
  const notes = [];
  if (!sum.textbook) notes.push(element('p', 'quiet', `These are the pairs that the thread reads. Not all are terms of ${name}, but their sum is what it stores.`));
  const isStored = sum.step < state.step || (sum.step === state.step && hasRun(state, sum.thread));
  if (isStored) notes.push(element('p', 'stored-words', storedText(run, sum)));
  return [head, strip, list, ...notes];
}

/* What has become of the whole sum. */
function storedText(run, sum) {
  const site = siteOf(run, sum.store), place = atLine(site.line);
  if (!site.atomic) return `Stored${place}: ${formatNumber(sum.stored)}.`;
  return `Added atomically${place} to what other blocks or threads had left: ${valueText(run, sum.store)}.`;
}

function termRow(run, term, number, done) {
  const row = element('li', number < done ? (number === done - 1 ? 'latest' : 'done') : 'ahead');
  row.append(element('code', '', termText(run, term)));
  if (number < done) row.append(span('term-numbers', ` ${formatNumber(term.left)} · ${formatNumber(term.right)}`), span('term-sum', '→ ' + formatNumber(round(term.sum))));
  return row;
}

/* --- cells ------------------------------------------------------------------------------------ */

function updateCell(app) {
  const { run, state } = app, at = app.pointed || app.pinned;
  const box = byId('cell');
  paintLinked(app.scene, state, at);
  if (!at) return void box.replaceChildren(element('p', 'quiet', 'Hover over a cell (or use Tab and the arrow keys) to see where its value came from and who reads it.'));
  const lines = at.thread !== undefined ? describeThread(app, at.thread) : describeCell(state, run.arrays[at.array], at.offset);
  box.replaceChildren(...lines.map((text, i) => element('p', i ? '' : 'cell-name', text)));
}

function describeThread({ run, state }, thread) {
  if (thread === NONE) return ['No thread.'];
  const lines = ['Thread ' + threadName(run, thread) + ', warp ' + Math.floor(thread / WARP) + ', lane ' + thread % WARP + '.'];
  const last = threadAccesses(run, thread).filter((a) => run.accesses.step[a] <= state.step).pop();
  if (last !== undefined) {
    const site = siteOf(run, last);
    lines.push(`Its last access so far: it ${verbedOf(site)} ${elementName(arrayOf(run, last), run.accesses.offset[last])}${atLine(site.line)}, step ${run.accesses.step[last]}.`);
  }
  const stores = lastStores(run, thread), offsetsIn = (array) => stores.filter((a) => arrayOf(run, a) === array).map((a) => run.accesses.offset[a]);
  const stored = run.outputs.filter((array) => offsetsIn(array).length).map((array) => elementsText(array, offsetsIn(array)));
  lines.push(stored.length ? 'It stores ' + joinWords(stored) + '.' : `It stores no element of ${namesText(run.outputs, 'or')} in what was recorded.`);
  const waits = waitingAt(run, state.step), at = waits.waiting.findIndex((list) => list.includes(thread));
  if (at >= 0) lines.push('It waits' + atLine(waits.lines[at]) + '.');
  if (waits.returned.includes(thread)) lines.push('It has returned.');
  return lines;
}

/* What a cell of the picture stands for: {array, offset} or {thread}. */
function subjectAt(app, { grid, row, col }) {
  const { array, slice, threads } = subjectOf(app.scene, grid.name);
  return threads ? { thread: threadOfCell(app.run, row, col) } : { array: array.number, offset: offsetOf(array, slice, row, col) };
}

function point(app, subject) {
  app.pointed = subject;
  updateCell(app);
}

function choose(app, subject) {
  app.pinned = subject;
  if (subject.thread !== undefined) return selectThread(app, subject.thread);
  const store = app.state.writer[subject.array].get(subject.offset);
  if (store !== undefined) return selectThread(app, app.run.accesses.thread[store]);
  update(app);
}

function listenToScene(app) {
  const { scene } = app, node = scene.node;
  node.addEventListener('pointermove', (event) => {
    const at = cellAt(scene, event);
    for (const grid of scene.grids.values()) paint(grid, 'cursor', at && at.grid === grid ? [[at.row, at.col]] : []);
    point(app, at && subjectAt(app, at));
  });
  node.addEventListener('pointerleave', () => {
    for (const grid of scene.grids.values()) paint(grid, 'cursor', []);
    point(app, null);
  });
  node.addEventListener('click', (event) => {
    const at = cellAt(scene, event);
    if (!at) return;
    moveCursor(scene, at.grid, at.row, at.col);
    choose(app, subjectAt(app, at));
  });
  /* An SVG element that listens for focus would be a stop of the Tab key itself. */
  scene.container.addEventListener('focusin', (event) => focusCursor(app, event.target));
  scene.container.addEventListener('keydown', (event) => onGridKey(app, event));
}

const gridOfCursor = (scene, node) => [...scene.grids.values()].find((grid) => grid.cursor === node);

function focusCursor(app, node) {
  const grid = gridOfCursor(app.scene, node);
  if (!grid) return;
  const [row, col] = app.scene.focusCell.get(grid.name);
  app.pinned = subjectAt(app, { grid, row, col });
  updateCell(app);
}

function onGridKey(app, event) {
  const grid = gridOfCursor(app.scene, event.target);
  if (!grid || event.ctrlKey || event.metaKey || event.altKey) return;
  const [row, col] = app.scene.focusCell.get(grid.name);
  const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  if (event.key === 'Enter') choose(app, subjectAt(app, { grid, row, col }));
  else if (by && !event.shiftKey) moveCursor(app.scene, grid, nextShown(grid.rows, row, by[0]), nextShown(grid.cols, col, by[1]));
  else return;
  event.preventDefault();
  focusCursor(app, grid.cursor);
}

/* --- code ------------------------------------------------------------------------------------- */

const numberOfLine = (node) => Number(node.id.slice('line-'.length));

function listenToCode(app) {
  const code = byId('code');
  code.addEventListener('click', (event) => {
    const node = event.target.closest('.line');
    if (node) selectLine(app, numberOfLine(node));
  });
  code.addEventListener('keydown', (event) => {
    const node = event.target.closest('.line');
    if (!node || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = { ArrowUp: node.previousElementSibling, ArrowDown: node.nextElementSibling }[event.key];
    if (next) {
      node.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    } else if (event.key === 'Enter' || event.key === ' ') {
      selectLine(app, numberOfLine(node));
    } else {
      return;
    }
    event.preventDefault();
  });
}

/* --- the state in the address ----------------------------------------------------------------- */

/* What a page without an address opens with: the finding, whose step may be the last one; else the first barrier, where
 * the shared arrays are full; else the first step. */
function openingStep(run) {
  return run.finding ? run.finding.step ?? run.last : barriers(run)[0] ?? 0;
}

/* #step=118&thread=17&line=31 */
function readFragment(app) {
  const { run } = app, values = new URLSearchParams(location.hash.slice(1));
  const number = (name, least, most, other) => {
    const value = Number.parseInt(values.get(name), 10);
    return Number.isInteger(value) ? Math.max(least, Math.min(most, value)) : other;
  };
  app.selection.thread = number('thread', 0, run.threadCount - 1, app.selection.thread);
  app.selection.line = number('line', 0, run.source.length, app.selection.line);
  goTo(app, { step: number('step', NONE, run.last, app.state.step) });
}

/* At once, but not more often than browsers like: they allow some 200 changes in 10 seconds. */
const FRAGMENT_PAUSE = 100; /* ms */

function writeFragment(app) {
  clearTimeout(app.fragmentTimer);
  const wait = (app.fragmentTime || -FRAGMENT_PAUSE) + FRAGMENT_PAUSE - performance.now();
  if (wait > 0) app.fragmentTimer = setTimeout(() => replaceFragment(app), wait);
  else replaceFragment(app);
}

function replaceFragment(app) {
  app.fragmentTime = performance.now();
  const { state, selection } = app;
  const text = `#step=${state.step}&thread=${selection.thread}` + (selection.line ? '&line=' + selection.line : '');
  if (location.hash === text) return;
  try { history.replaceState(null, '', text); } catch { /* some browsers allow none on file:// */ }
}

/* --- start ------------------------------------------------------------------------------------ */

/* "A is 4 x 8", then "B 8 x 6"; "a has 21 elements". */
function extentText({ name, dims }, i) {
  return dims.length === 1 ? `${name} has ${plural(dims[0], 'element')}` : name + (i ? ' ' : ' is ') + dims.join(' x ');
}

function fillHeader(run) {
  const { launch } = run, shape = Object.entries(run.shape).map(([name, value]) => name + '=' + value);
  const triple = (list) => '(' + (list[2] > 1 ? list : list.slice(0, 2)).join(', ') + ')';
  document.title = run.file + ': walkthrough';
  byId('title').textContent = `${baseName(run.file)}, block ${blockName(run)}`;
  const parts = [`${launch.kernel}<<<${triple(launch.grid)}, ${triple(launch.block)}>>>${launch.line ? ' at line ' + launch.line : ''}`,
    `${run.globals.map(extentText).join(', ')} (${shape.join(' ')})`];
  if (launch.shared_bytes) parts.push(`${formatCount(launch.shared_bytes)} bytes of dynamic shared memory`);
  if (launch.of > 1) parts.push(`launch ${launch.number} of ${launch.of}`);
  byId('launch').textContent = parts.join('; ');
}

/* The names of arrays, where the page speaks of them; what is about sums only where there are some. */
function fillNames(run) {
  const texts = { 'of inputs': joinWords(run.inputs.map((array) => 'of ' + array.name)), inputs: namesText(run.inputs),
                  'an input': namesText(run.inputs, 'or'), outputs: namesText(run.outputs) };
  for (const node of document.querySelectorAll('[data-names]')) node.replaceWith(texts[node.dataset.names]);
  for (const node of document.querySelectorAll('.of-sums')) node.hidden = !run.sum;
  byId('sum-pane').hidden = !run.sites.some((site) => site.write && site.array === run.output); /* the recording ends before */
  if (!run.sum) byId('left').setAttribute('aria-label', 'Code and cell');
}

/* What is not in every run is in the legend only where it is. */
function fillLegend(run) {
  for (const key of document.querySelectorAll('.legend [class$="-b"]')) key.hidden = run.inputs.length < 2;
  byId('key-origin').hidden = !run.shared.length;
  byId('key-past').hidden = !run.phases.length;
  if (!run.phases.length) byId('key-when').textContent = 'so far';
  if (!barriers(run).length) byId('key-trail').textContent = 'read before by the selected thread';
  byId('key-missing').hidden = !run.outputs.some((array) => array.unwrittenSet.size);
  byId('key-wrong').hidden = !run.outputs.some((array) => array.wrongMap.size);
  byId('key-outside-of').textContent = run.words.array === 'array' ? 'outside the array' : `outside the ${run.words.array} or array`;
  byId('key-outside').hidden = !outsideAccesses(run).length;
  byId('key-zero').hidden = !run.shared.some((array) => [...accessesOf(run, array).values()].some((list) =>
    list.some((a) => siteOf(run, a).write && run.accesses.value[a] === 0 && run.accesses.from[a] === NONE)));
}

function setZoom(app, zoom) {
  app.scene.zoom = Math.max(0.5, Math.min(4, zoom));
  byId('zoom-words').textContent = Math.round(100 * app.scene.zoom) + ' %';
  update(app);
}

/* What page.css has to know of heights. */
function measureBars() {
  const set = (name, height) => document.documentElement.style.setProperty(name, height + 'px');
  set('--time-height', byId('time').offsetHeight);
  set('--above', byId('left').parentNode.offsetTop + parseFloat(getComputedStyle(byId('left').parentNode).paddingTop));
}

function start() {
  const run = decodeRun(JSON.parse(byId('run').textContent));
  run.loops = findLoops(run);
  const app = { run, state: makeState(run), selection: { thread: firstThread(run), line: 0 }, unit: 'warp', playing: false,
                pointed: null, pinned: null };
  fillHeader(run);
  fillNames(run);
  makeCode(run);
  makeFinding(app);
  makeTime(app);
  makePredict(app);
  app.scene = makeScene(run, byId('scene-box'));
  makeSplit(app);
  makeTable(app);
  fillLegend(run);
  listenToScene(app);
  listenToCode(app);
  byId('zoom-in').addEventListener('click', () => setZoom(app, app.scene.zoom * 1.25));
  byId('zoom-out').addEventListener('click', () => setZoom(app, app.scene.zoom / 1.25));
  byId('sum-element').addEventListener('change', (event) => { app.scene.sumNumber = Number(event.target.value); update(app); });
  const bars = new ResizeObserver(measureBars);
  for (const id of ['finding', 'time']) bars.observe(byId(id));
  new ResizeObserver(() => app.actingLine && scrollWithin(byId('code'), app.actingLine)).observe(byId('code'));
  window.addEventListener('hashchange', () => readFragment(app));
  window.addEventListener('resize', () => update(app));
  new ResizeObserver(() => { if (app.scene.measured !== sizeKey(app.scene)) update(app); }).observe(byId('scene-box'));
  moveTo(app.state, openingStep(run));
  readFragment(app);
  window.walk = makeHooks(app);
  document.body.dataset.ready = 'true';
}

start();
