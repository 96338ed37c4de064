/* Time: the bar of phases and barriers, the slider, buttons and keys.
 *
 * Moving by one is by the chosen unit: what a line does for one thread, one warp, or all warps of
 * the block; or the selected thread's own steps. */

/* --- what repeats ----------------------------------------------------------------------------- */

/* Runs of steps in which a loop goes round: the first to the last step of lines that a warp comes
 * by more than once in an interval, put together where they overlap. */
function findLoops(run) {
  const byLine = new Map(), loops = [];
  for (const step of run.steps) {
    const who = isSingle(run, step) ? step.accesses[0]?.thread : 'all';
    if (step.warp >= 0) addTo(byLine, [step.interval.number, step.line, who].join(), step);
  }
  for (const steps of byLine.values()) {
    const first = steps[0].number, last = steps.at(-1).number, before = loops.at(-1);
    if (new Set(steps.map(({ warp }) => warp)).size === steps.length) continue; /* no warp comes again */
    if (first <= before?.last) before.last = Math.max(before.last, last);
    else loops.push({ first, last });
  }
  return loops;
}

/* Whether what one line does for all warps ends with this step. */
function endsLine(run, { line, warp, number }) {
  const next = run.steps[number + 1];
  return warp < 0 || next?.line !== line || next.warp <= warp || isSingle(run, next);
}

/* --- where a move leads: {step, lane}; null: nowhere ------------------------------------------ */

const clampStep = (run, step) => Math.max(NONE, Math.min(run.last, step));
const stepsWhere = (run, isOne) => run.steps.filter(isOne).map(({ number }) => number);
const barriers = (run) => stepsWhere(run, ({ warp }) => warp < 0);
const phaseStarts = (run) => run.phases.map((p) => p.first);
const findingSteps = ({ finding }) =>
  ascending([finding?.step, finding?.other_step].filter(Number.isInteger));

/* The steps at which moves stop: by units, to the end of a loop or a line, and to what has a button
 * of its own. */
const STOPS = {
  warp: ({ run }) => stepsWhere(run, () => true),
  block: ({ run }) => stepsWhere(run, (step) => endsLine(run, step)),
  own: ({ run, selection: { thread } }) => stepsWhere(run, ({ warp, lanes }) =>
    warp < 0 || (warp === Math.floor(thread / WARP) && lanes.includes(thread % WARP))),
  skip: ({ run }) => stepsWhere(run, (step) => endsLine(run, step) &&
    !run.loops.some(({ first, last }) => step.number >= first && step.number < last)),
  barrier: ({ run }) => barriers(run),
  phase: ({ run }) => phaseStarts(run),
  finding: ({ run }) => findingSteps(run),
  line: ({ run, selection }) =>
    stepsWhere(run, ({ line, warp }) => line === selection.line && warp >= 0),
};

/* Of a move by its name: start, end; forward, back (by the unit); "barrier", "barrier-back", and so
 * on. */
function targetOf(app, name) {
  const { run, state, unit } = app, isBack = name.endsWith('back');
  const ends = { start: { step: NONE }, end: { step: run.last } };
  const isByUnit = name === 'forward' || name === 'back';
  const what = isByUnit ? unit : name.replace('-back', '');
  if (ends[name]) return ends[name];
  if (what === 'thread') return laneBeside(app, isBack);
  const stops = STOPS[what](app), inOrder = isBack ? stops.reverse() : stops;
  const next = inOrder.find((step) => (isBack ? step < state.step : step > state.step));
  const found = next ?? (what === 'finding' ? inOrder[0] : undefined); /* that goes round */
  if (found !== undefined) return { step: found };
  return isByUnit || what === 'skip' ? ends[isBack ? 'start' : 'end'] : null;
}

/* The lane of this step before or behind, else one of the next step: of a whole step all lanes are done. */
function laneBeside({ run, state: { step, lane } }, isBack) {
  const lanes = run.steps[step]?.lanes || [], done = lanes.filter((each) => lane === NONE || each <= lane);
  const found = isBack ? done.filter((each) => each !== lane).at(-1) : lanes[done.length];
  if (found !== undefined) return { step, lane: found };
  const next = isBack ? step - 1 : step + 1;
  if (next < 0) return { step: NONE };
  return next > run.last ? { step, lane } : { step: next, lane: run.steps[next].lanes.at(isBack ? -1 : 0) ?? NONE };
}

/* --- the bar ---------------------------------------------------------------------------------- */

function intervalText({ outputs }, interval) {
  const words = { loads: 'load', computes: 'compute', stores: 'store ' + namesText(outputs) };
  return Object.keys(words).filter((key) => interval[key]).map((key) => words[key]).join(' + ') || '–';
}

function makeBar(run) {
  const bar = byId('bar'), part = (steps) => steps / (run.last + 1);
  const mark = (className, title, step) => {
    const node = element('span', className);
    node.title = title;
    node.style.left = 100 * part(step + 1) + '%'; /* where the slider is at that step */
    bar.append(node);
    return node;
  };
  const add = (className, text, first, last) => {
    const node = mark(className, text, first - 1), share = part(last + 1 - first);
    node.style.width = 100 * share + '%';
    if (text.length < share * bar.clientWidth / 7) node.textContent = text; /* letters that have room */
  };
  for (const { number, first, end } of run.phases) add('bar-phase', phaseText(run, number), first, end);
  for (const interval of run.intervals) {
    const { loads, computes, first, end, barrier } = interval;
    const kind = loads && computes ? 'loads both' : loads ? 'loads' : computes ? 'computes' : 'stores';
    add('bar-interval ' + kind, intervalText(run, interval), first, end);
    if (barrier !== NONE) mark('bar-barrier', 'barrier', barrier);
  }
  if (run.as_run_from !== null && run.steps.length) add('bar-single', 'single threads, in the order in which they ran', run.as_run_from, run.last);
  if (run.undefinedAfter >= 0 && run.undefinedAfter < run.last)
    add('bar-undefined', 'undefined on a GPU', run.undefinedAfter + 1, run.last);
  for (const step of findingSteps(run)) mark('bar-finding', step === run.finding.step ? 'finding' : 'the other thread', step);
  byId('cut').textContent = cutText(run);
}

/* How many there are is not known of a recording that was cut. */
const phaseText = (run, phase) => `phase ${phase}` + (run.isCut ? '' : ` of ${run.phases.length}`);

function updateTime({ run, state, playing }) {
  const { step, lane } = state, isBefore = step < 0, text = isBefore ? '' : stepText(run, step);
  const thread = lane === NONE ? '' : `, thread ${threadName(run, run.steps[step].warp * WARP + lane)}`;
  byId('slider').value = step;
  byId('slider').setAttribute('aria-valuetext', isBefore ? 'before the first step' : text);
  byId('step-number').textContent = isBefore ? `before step 0 of ${Math.max(0, run.last)}` : text + thread;
  byId('play').textContent = playing ? 'Pause' : 'Play';
  byId('play').setAttribute('aria-pressed', String(playing));
}

function stepText(run, step) {
  const { interval } = run.steps[step], what = intervalText(run, interval);
  const phase = interval.phase === NONE ? '' : ', ' + phaseText(run, interval.phase);
  return `step ${step} of ${run.last}${phase}${what === '–' ? '' : ': ' + what}`;
}

/* --- play ------------------------------------------------------------------------------------- */

function togglePlay(app) {
  if (app.playing) return stopPlaying(app);
  if (app.state.step >= app.run.last) goTo(app, { step: NONE });
  app.playing = true;
  byId('sentence').setAttribute('aria-live', 'off'); /* many sentences a second are noise */
  tick(app);
}

function stopPlaying(app) {
  app.playing = false;
  clearTimeout(app.timer);
  byId('sentence').setAttribute('aria-live', 'polite');
  updateTime(app);
  writeFragment(app);
}

function tick(app) {
  const before = app.state.step;
  goTo(app, targetOf(app, 'forward'));
  if (app.state.step >= app.run.last && app.state.step === before) return stopPlaying(app);
  app.timer = setTimeout(() => tick(app), 1000 / Number(byId('speed').value));
}

/* --- keys and buttons ------------------------------------------------------------------------- */

const KEYS = {
  ArrowRight: 'forward', ArrowLeft: 'back', '.': 'forward', ',': 'back',
  'Shift+ArrowRight': 'skip', 'Shift+ArrowLeft': 'skip-back', '>': 'skip', '<': 'skip-back',
  Home: 'start', End: 'end', ' ': 'play', b: 'barrier', B: 'barrier-back', p: 'phase', P: 'phase-back',
  f: 'finding', F: 'finding-back', l: 'line', L: 'line-back', t: 'unit',
};

/* What a key or button of this name does. */
function move(app, name) {
  if (name === 'play') return togglePlay(app);
  if (app.playing) stopPlaying(app);
  if (name === 'unit') setUnit(app, app.unit === 'thread' ? 'warp' : 'thread');
  else goTo(app, targetOf(app, name));
}

const hasModifier = (event) => event.ctrlKey || event.metaKey || event.altKey;

function onKey(app, event) {
  if (hasModifier(event) || event.defaultPrevented) return;
  const { target, key } = event, isRange = target.type === 'range';
  if (target.matches('select')) return;
  if (target.matches('button, summary, input') && !isRange && (key === ' ' || key === 'Enter')) return;
  const isCharacter = key.length === 1 && key !== ' ';
  if (isCharacter && !byId('letters').checked) return;
  const name = KEYS[event.shiftKey && key.startsWith('Arrow') ? 'Shift+' + key : key];
  if (!name) return;
  event.preventDefault();
  move(app, name);
}

function setUnit(app, unit) {
  app.unit = unit;
  byId('unit').value = unit;
  if (unit !== 'thread' && app.state.lane !== NONE) goTo(app, { step: app.state.step });
}

function makeTime(app) {
  const { run } = app, slider = byId('slider'), more = byId('more'), controls = byId('more-controls');
  slider.max = run.last;
  slider.addEventListener('input', () => goTo(app, { step: Number(slider.value) }));
  for (const button of document.querySelectorAll('[data-move]'))
    button.addEventListener('click', () => move(app, button.dataset.move));
  byId('unit').addEventListener('change', () => setUnit(app, byId('unit').value));
  more.addEventListener('click', () => {
    controls.hidden = !controls.hidden;
    more.setAttribute('aria-expanded', String(!controls.hidden));
  });
  document.addEventListener('keydown', (event) => onKey(app, event));
  const isThere = { barrier: barriers(run).length, phase: run.phases.length, finding: findingSteps(run).length };
  for (const [name, count] of Object.entries(isThere))
    for (const button of document.querySelectorAll(`[data-move^="${name}"]`)) button.hidden = !count;
  if (!isThere.barrier) more.before(byId('skip'));
  makeBar(run);
}
