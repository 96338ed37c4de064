/* The page: what is selected, where time is, and what is drawn then. */

/* --- moving ----------------------------------------------------------------------------------- */

/* null: there is nothing to go to. */
function goTo(app, target) {
  if (!target) return;
  const { run, state, selection } = app, step = clampStep(run, target.step), { warp = NONE } = run.steps[step] || {};
  Object.assign(state, { step, lane: warp < 0 ? NONE : target.lane ?? NONE });
  if (state.lane !== NONE) selection.thread = warp * WARP + state.lane;
  update(app);
}

function selectThread(app, thread) {
  if (thread === NONE) return;
  Object.assign(app.selection, { thread, sum: 0 });
  byId('sum-element').value = '0';
  update(app);
}

function selectLine(app, line) {
  app.selection.line = app.selection.line === line ? 0 : line;
  update(app);
}

function update(app) {
  updateTime(app);
  updateWords(app); /* first: the picture gets the room that they leave */
  paintScene(app.scene);
  updateCode(app);
  updateIndex(app);
  updateSum(app);
  updateStrips(app);
  updateTotals(app);
  updateCell(app);
  writeFragment(app);
}

function updateWords({ run, state, selection: { thread, line } }) {
  const after = run.undefinedAfter, count = run.steps.filter((s) => s.line === line).length;
  byId('sentence').textContent = sentenceAt(state, thread);
  byId('thread-name').textContent = threadName(run, thread);
  byId('as-run').hidden = !isSingle(run, run.steps[state.step]);
  byId('undefined').hidden = after < 0 || state.step < after;
  byId('undefined').textContent = `At step ${after} not all threads were at the same __syncthreads(). On a GPU, what follows is undefined. ` +
    'The steps from here on are what happened in this run.';
  const steps = count ? `${plural(count, 'step')}. Keys l and L go to the next and the previous one.`
    : 'it makes no step.';
  byId('line-words').textContent = line ? `Line ${line} is selected: ${steps}` : '';
}

/* --- the sum ---------------------------------------------------------------------------------- */

const TERMS_SHOWN = 5, BESIDE_FINDING = 3; /* which leaves less room */

function updateSum(app) {
  const { run, state, selection } = app;
  if (!run.sum) return;
  const sums = sumsOf(run, selection.thread), sum = sums[selection.sum];
  fillSumChoice(app, sums);
  const name = threadName(run, selection.thread), store = sum?.store;
  const unknown = store
    ? `The thread ${verbsOf(store.site)} ${elementName(store)}: ${valueText(store)}. This sum cannot be shown: ` +
      'registers and shuffles are not recorded, and what this thread read does not add up to the stored value.'
    : `Thread ${name} stores no element of ${run.output.name} in this recording, so no sum is shown.`;
  byId('sum-title').textContent = 'Sum of thread ' + name;
  byId('sum').replaceChildren(...(sum?.followed ? drawSum(state, sum) : [element('p', 'quiet', unknown)]));
}

function fillSumChoice(app, sums) {
  const choice = byId('sum-element');
  choice.parentNode.hidden = sums.length < 2;
  if (app.sumsShown === sums) return;
  app.sumsShown = sums;
  choice.replaceChildren(...sums.map(({ store }, i) => new Option(elementName(store), i)));
  choice.value = app.selection.sum;
}

function drawSum(state, sum) {
  const { run } = state, { terms, store } = sum, { done, value } = sumSoFar(state, sum);
  const head = element('p', 'sum-head'), list = element('ol', 'terms'), notes = [];
  head.append(element('code', '', `${elementName(store)}: `), element('strong', '', formatNumber(value)),
    ` after ${done} of ${plural(terms.length, 'product')}`);
  const shown = run.finding ? BESIDE_FINDING : TERMS_SHOWN;
  const first = Math.max(0, Math.min(done - shown + 2, terms.length - shown));
  list.append(...terms.slice(first, first + shown).map((term, i) => termRow(term, done - first - i)));
  const asRead = `These are the pairs that the thread reads. Not all are terms of ${elementName(store)}, ` +
    'but their sum is what it stores.';
  if (!sum.textbook) notes.push(element('p', 'quiet', asRead));
  const { site } = store, place = atLine(site.line); /* what has become of the whole sum */
  const stored = site.atomic ? `Added atomically${place} to what other blocks or threads had left: ${valueText(store)}.`
    : `Stored${place}: ${formatNumber(store.value)}.`;
  if (isDone(state, store)) notes.push(element('p', 'stored-words', stored));
  return [head, progressBar('sum', 100 * done / terms.length), list, ...notes];
}

/* done: how many terms are, from this one on. */
function termRow(term, done) {
  const row = element('li', done > 1 ? 'done' : done === 1 ? 'latest' : 'ahead'), { a, b, sum } = term;
  row.append(element('code', '', termText(term)));
  if (done > 0) row.append(span('term-numbers', ` ${formatNumber(a.value)} · ${formatNumber(b.value)}`),
                           span('term-sum', '→ ' + formatNumber(round(sum))));
  return row;
}

/* --- cells ------------------------------------------------------------------------------------ */

const HOW_TO_POINT = 'Hover over a cell (or use Tab and the arrow keys) to see where its value came from and who reads it.';

function updateCell(app) {
  const at = app.pointed || app.pinned;
  if (!at) return byId('cell').replaceChildren(element('p', 'quiet', HOW_TO_POINT));
  const lines = at.array ? describePlace(app.state, at) : describeThread(app, at.thread);
  byId('cell').replaceChildren(...lines.map((text, i) => element('p', i ? '' : 'cell-name', text)));
}

function describeThread({ run, state }, thread) {
  if (thread === NONE) return ['No thread.'];
  const last = run.ofThread[thread].findLast((a) => a.step <= state.step), stores = lastStores(run, thread);
  const offsetsIn = (array) => stores.filter((a) => a.array === array).map((a) => a.offset);
  const stored = run.outputs.filter((array) => offsetsIn(array).length).map((array) => elementsText(array, offsetsIn(array)));
  const { waiting, returned } = waitingAt(run, state.step);
  const at = waiting.find(({ threads }) => threads.includes(thread));
  return [
    `Thread ${threadName(run, thread)}, warp ${Math.floor(thread / WARP)}, lane ${thread % WARP}.`,
    last && `Its last access so far: it ${verbedOf(last.site)} ${elementName(last)}${atLine(last.site.line)}, step ${last.step}.`,
    stored.length ? `It stores ${joinWords(stored)}.` : `It stores no element of ${namesText(run.outputs, 'or')} in what was recorded.`,
    at && `It waits${atLine(at.line)}.`,
    returned.includes(thread) && 'It has returned.',
  ].filter(Boolean);
}

function choose(app, subject) {
  app.pinned = subject;
  const { thread } = subject.array ? storeAt(app.state, subject) || {} : subject;
  if (thread === undefined) update(app);
  else selectThread(app, thread);
}

function listenToScene(app) {
  const { scene } = app;
  const point = (at) => { /* null: at no cell */
    for (const grid of scene.grids.values()) paint(grid, 'cursor', at?.grid === grid ? [[at.row, at.col]] : []);
    app.pointed = at && subjectAt(app.run, at.grid, at.row, at.col);
    updateCell(app);
  };
  scene.node.addEventListener('pointermove', (event) => point(cellAt(scene, event)));
  scene.node.addEventListener('pointerleave', () => point(null));
  scene.node.addEventListener('click', (event) => {
    const { grid, row, col } = cellAt(scene, event) || {};
    if (!grid) return;
    moveCursor(scene, grid, row, col);
    choose(app, subjectAt(app.run, grid, row, col));
  });
  /* An SVG element that listens for focus would be a stop of the Tab key itself. */
  scene.container.addEventListener('focusin', (event) => focusCursor(app, event.target));
  scene.container.addEventListener('keydown', (event) => onGridKey(app, event));
}

const gridOfCursor = (scene, node) => [...scene.grids.values()].find((grid) => grid.cursor === node);

function focusCursor(app, node) {
  const grid = gridOfCursor(app.scene, node);
  if (!grid) return;
  app.pinned = subjectAt(app.run, grid, ...app.scene.focusCell.get(grid.name));
  updateCell(app);
}

function onGridKey(app, event) {
  const { run, scene } = app, grid = gridOfCursor(scene, event.target);
  if (!grid || hasModifier(event)) return;
  const [row, col] = scene.focusCell.get(grid.name);
  const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  if (event.key === 'Enter') choose(app, subjectAt(run, grid, row, col));
  else if (!by || event.shiftKey) return;
  else moveCursor(scene, grid, nextShown(grid.rows, row, by[0]), nextShown(grid.cols, col, by[1]));
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
    if (!node || hasModifier(event)) return;
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

/* Not while steps follow each other: browsers allow some 200 changes in 10 seconds. */
function writeFragment({ state, selection, playing }) {
  const text = `#step=${state.step}&thread=${selection.thread}` + (selection.line ? '&line=' + selection.line : '');
  if (playing || location.hash === text) return;
  try { history.replaceState(null, '', text); } catch { /* some browsers allow none on file:// */ }
}

/* --- start ------------------------------------------------------------------------------------ */

function fillHeader(run) {
  const { launch } = run, shape = Object.entries(run.shape).map(([name, value]) => name + '=' + value);
  document.title = run.file + ': walkthrough';
  byId('title').textContent = `${baseName(run.file)}, block ${blockName(run)}`;
  const at = launch.line ? `line ${launch.line}: ` : '';
  byId('launch').textContent = `${at}${launch.text} (${shape.join(' ')})`;
}

/* The names of arrays, where the page speaks of them; what is about sums only where there are some. */
function fillNames(run) {
  const texts = { inputs: namesText(run.inputs), 'an input': namesText(run.inputs, 'or'),
                  outputs: namesText(run.outputs) };
  for (const node of document.querySelectorAll('[data-names]')) node.replaceWith(texts[node.dataset.names]);
  for (const node of document.querySelectorAll('.of-sums')) node.hidden = !run.sum;
  byId('sum-pane').hidden = !run.sites.some(({ write, array }) => write && array === run.output); /* the recording ends before */
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
  byId('key-zero').hidden = !run.accesses.some(({ array, write, value, from }) =>
    array.role === 'shared' && write && value === 0 && !from);
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
  const app = { run, state: makeState(run), selection: { thread: firstThread(run), line: 0, sum: 0 },
                unit: 'warp', playing: false, pointed: null, pinned: null };
  fillHeader(run);
  fillNames(run);
  makeCode(run);
  makeFinding(app);
  makeTime(app);
  app.scene = makeScene(app, byId('scene-box'));
  fillLegend(run);
  listenToScene(app);
  listenToCode(app);
  byId('sum-element').addEventListener('change', ({ target }) => {
    app.selection.sum = Number(target.value);
    update(app);
  });
  const bars = new ResizeObserver(measureBars);
  for (const id of ['finding', 'time']) bars.observe(byId(id));
  new ResizeObserver(() => app.actingLine && scrollWithin(byId('code'), app.actingLine)).observe(byId('code'));
  window.addEventListener('hashchange', () => readFragment(app));
  window.addEventListener('resize', () => update(app));
  new ResizeObserver(() => { if (app.scene.measured !== sizeKey(app.scene)) update(app); }).observe(byId('scene-box'));
  /* A page without an address opens with the finding, whose step may be the last one; else with the
   * first barrier, where the shared arrays are full; else with the first step. */
  app.state.step = run.finding ? run.finding.step ?? run.last : barriers(run)[0] ?? 0;
  readFragment(app);
  document.body.dataset.ready = 'true';
  return app;
}

const app = start(); /* by this name tests know it */
