/* Time: the bar of phases and barriers, the slider, buttons and keys.
 *
 * Moving by one is by the chosen unit: what a line does for one thread, one warp, or all warps of the
 * block; or the selected thread's own steps. */

/* --- what repeats ----------------------------------------------------------------------------- */

/* Runs of steps in which a loop goes round: the first to the last step of lines that a warp comes by
 * more than once in an interval, put together where they overlap. */
function findLoops(run) {
  const ranges = new Map(); /* interval and line -> {first, last, count} */
  for (const step of run.steps) {
    if (step.warp < 0) continue;
    const single = isSingle(run, step), who = single ? step.first < step.end ? run.accesses.thread[step.first] : 0 : 'all';
    const key = step.interval + ' ' + step.line + ' ' + who;
    const range = ranges.get(key) || { first: step.number, last: step.number, warps: new Map(), turns: 1 };
    range.last = step.number;
    range.warps.set(step.warp, (range.warps.get(step.warp) || 0) + 1);
    range.turns = Math.max(range.turns, range.warps.get(step.warp));
    ranges.set(key, range);
  }
  const loops = [];
  for (const range of [...ranges.values()].filter((r) => r.turns > 1).sort((x, y) => x.first - y.first)) {
    const before = loops[loops.length - 1];
    if (before && range.first <= before.last) {
      before.last = Math.max(before.last, range.last);
      before.turns = Math.max(before.turns, range.turns);
    } else {
      loops.push({ first: range.first, last: range.last, turns: range.turns });
    }
  }
  return loops;
}

const loopAt = (run, step) => run.loops.find((loop) => step >= loop.first && step <= loop.last);

/* The last step of what one line does for all warps, from this step on. */
function lineEnd(run, step) {
  let end = step;
  while (end < run.last && run.steps[end + 1].line === run.steps[step].line && run.steps[end + 1].warp > run.steps[end].warp &&
         run.steps[step].warp >= 0 && !isSingle(run, run.steps[end + 1])) end++;
  return end;
}

/* --- where a move leads ----------------------------------------------------------------------- */

const clampStep = (run, step) => Math.max(NONE, Math.min(run.last, step));

function forwardBy(app, unit) {
  const { run, state } = app, next = state.step + 1;
  if (unit === 'thread') return nextLane(app);
  if (next > run.last) return { step: run.last };
  if (unit === 'block') return { step: lineEnd(run, next) };
  if (unit === 'own') return { step: ownStep(app, next, 1) };
  return { step: next };
}

function backBy(app, unit) {
  const { run, state } = app;
  if (unit === 'thread') return previousLane(app);
  if (unit === 'own') return { step: ownStep(app, state.step - 1, -1) };
  if (unit !== 'block' || state.step < 1) return { step: clampStep(run, state.step - 1) };
  let step = state.step - 1;
  while (step >= 0 && lineEnd(run, step) > step) step--;
  return { step };
}

/* To the end of the loop that is ahead, or of what this line does for the block. */
function skipForward(app) {
  const { run, state } = app, next = clampStep(run, state.step + 1), loop = loopAt(run, next);
  return { step: loop ? loop.last : lineEnd(run, Math.max(0, next)) };
}

function skipBack(app) {
  const { run, state } = app, loop = loopAt(run, state.step);
  return loop ? { step: loop.first - 1 } : backBy(app, 'block');
}

/* The next step, from this one on, in which the selected thread acts or waits at a barrier. */
function ownStep({ run, selection }, step, by) {
  for (let s = step; s >= 0 && s <= run.last; s += by) {
    const { warp, lanes } = run.steps[s];
    if (warp < 0 || (warp === Math.floor(selection.thread / WARP) && (lanes >>> selection.thread % WARP) & 1)) return s;
  }
  return by > 0 ? run.last : NONE;
}

function nextLane({ run, state }) {
  const step = run.steps[state.step];
  if (step && step.warp >= 0 && state.lane !== NONE) {
    const lane = lanesOf(step).find((l) => l > state.lane);
    if (lane !== undefined) return { step: state.step, lane };
  }
  if (state.step >= run.last) return { step: run.last, lane: state.lane };
  return atLane(run, state.step + 1, 0);
}

function previousLane({ run, state }) {
  const step = run.steps[state.step];
  if (step && step.warp >= 0) {
    const before = lanesOf(step).filter((l) => state.lane === NONE || l < state.lane);
    if (before.length) return { step: state.step, lane: before[before.length - 1] };
  }
  return state.step <= 0 ? { step: NONE } : atLane(run, state.step - 1, -1);
}

function atLane(run, step, which) {
  const lanes = run.steps[step].warp < 0 ? [] : lanesOf(run.steps[step]);
  return { step, lane: lanes.length ? lanes.at(which) : NONE };
}

const barriers = (run) => run.steps.filter((s) => s.warp < 0).map((s) => s.number);
const phaseStarts = (run) => run.phases.map((p) => p.first);
const findingSteps = ({ finding }) => finding ? ascending([finding.step, finding.other_step].filter((s) => Number.isInteger(s))) : [];

/* The next of these steps, or the one before; none: where it was. */
function nextOf(steps, step, by) {
  const found = by > 0 ? steps.find((s) => s > step) : steps.filter((s) => s < step).pop();
  return found === undefined ? null : { step: found };
}

/* Of the finding's steps the next one, beginning anew after the last. */
function nextFinding({ run, state }, by) {
  const steps = findingSteps(run);
  if (!steps.length) return null;
  return nextOf(steps, state.step, by) || { step: by > 0 ? steps[0] : steps[steps.length - 1] };
}

function nextOfLine({ run, state, selection }, by) {
  const steps = run.steps.filter((s) => s.line === selection.line && s.warp >= 0).map((s) => s.number);
  return nextOf(steps, state.step, by);
}

/* --- the bar ---------------------------------------------------------------------------------- */

function intervalText({ outputs }, interval) {
  const words = { loads: 'load', computes: 'compute', stores: 'store ' + namesText(outputs) };
  return Object.keys(words).filter((key) => interval[key]).map((key) => words[key]).join(' + ') || '–';
}

function spanOnBar(run, node, first, last) {
  const count = run.last + 1;
  node.style.left = 100 * first / count + '%';
  node.style.width = 100 * (last + 1 - first) / count + '%';
}

function makeBar(run) {
  const bar = byId('bar');
  const add = (className, text, first, last) => {
    const share = (last + 1 - first) / (run.last + 1), room = share * bar.clientWidth / 7; /* letters */
    const node = element('span', className, text.length < room ? text : '');
    node.title = text;
    spanOnBar(run, node, first, last);
    bar.append(node);
  };
  const mark = (className, text, step) => {
    const node = element('span', className);
    node.title = text;
    node.style.left = 100 * (step + 1) / (run.last + 1) + '%'; /* where the slider is at that step */
    bar.append(node);
  };
  for (const phase of run.phases) add('bar-phase', phaseText(run, phase.number), phase.first, phase.end);
  for (const interval of run.intervals) {
    const kind = interval.loads ? 'loads' : interval.computes ? 'computes' : 'stores';
    add('bar-interval ' + kind + (interval.loads && interval.computes ? ' both' : ''), intervalText(run, interval), interval.first, interval.end);
    if (interval.barrier !== NONE) mark('bar-barrier', 'barrier', interval.barrier);
  }
  if (run.as_run_from !== null && run.steps.length) add('bar-single', 'single threads, in the order in which they ran', run.as_run_from, run.last);
  if (run.undefinedAfter >= 0 && run.undefinedAfter < run.last)
    add('bar-undefined', 'undefined on a GPU', run.undefinedAfter + 1, run.last);
  byId('cut').textContent = cutText(run);
  for (const step of findingSteps(run)) mark('bar-finding', step === run.finding.step ? 'finding' : 'the other thread', step);
}

/* How many there are is not known of a recording that was cut. */
const phaseText = (run, phase) => `phase ${phase}` + (run.isCut ? '' : ` of ${run.phases.length}`);

function updateTime(app) {
  const { run, state } = app, slider = byId('slider');
  slider.value = state.step;
  slider.setAttribute('aria-valuetext', state.step < 0 ? 'before the first step' : stepText(run, state.step));
  const lane = state.lane === NONE ? '' : `, thread ${threadName(run, run.steps[state.step].warp * WARP + state.lane)}`;
  byId('step-number').textContent = state.step < 0 ? `before step 0 of ${Math.max(0, run.last)}` : stepText(run, state.step) + lane;
  byId('play').textContent = app.playing ? 'Pause' : 'Play';
  byId('play').setAttribute('aria-pressed', String(app.playing));
}

function stepText(run, step) {
  const interval = run.byInterval.get(run.steps[step].interval), phase = phaseAt(run, step);
  const where = phase === NONE ? '' : ', ' + phaseText(run, phase);
  const what = intervalText(run, interval);
  return `step ${step} of ${run.last}${where}${what === '–' ? '' : ': ' + what}`;
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
}

function tick(app) {
  const before = app.state.step;
  moveForward(app);
  const isQuestion = app.predict && app.predict.asked;
  if (app.state.step >= app.run.last && app.state.step === before || isQuestion) return stopPlaying(app);
  app.timer = setTimeout(() => tick(app), 1000 / Number(byId('speed').value));
}

/* --- keys and buttons ------------------------------------------------------------------------- */

const moveForward = (app) => goForward(app, forwardBy(app, app.unit));
const moveBack = (app) => goTo(app, backBy(app, app.unit));

/* What a key or button of this name does. */
const MOVES = {
  start: (app) => goTo(app, { step: NONE }),
  end: (app) => goTo(app, { step: app.run.last }),
  forward: moveForward,
  back: moveBack,
  skip: (app) => goForward(app, skipForward(app)),
  'skip-back': (app) => goTo(app, skipBack(app)),
  barrier: (app) => goForward(app, nextOf(barriers(app.run), app.state.step, 1)),
  'barrier-back': (app) => goTo(app, nextOf(barriers(app.run), app.state.step, -1)),
  phase: (app) => goForward(app, nextOf(phaseStarts(app.run), app.state.step, 1)),
  'phase-back': (app) => goTo(app, nextOf(phaseStarts(app.run), app.state.step, -1)),
  finding: (app) => goTo(app, nextFinding(app, 1)),
  'finding-back': (app) => goTo(app, nextFinding(app, -1)),
  line: (app) => goTo(app, nextOfLine(app, 1)),
  'line-back': (app) => goTo(app, nextOfLine(app, -1)),
  unit: (app) => setUnit(app, app.unit === 'thread' ? 'warp' : 'thread'),
  play: togglePlay,
};

const KEYS = {
  ArrowRight: 'forward', ArrowLeft: 'back', '.': 'forward', ',': 'back',
  'Shift+ArrowRight': 'skip', 'Shift+ArrowLeft': 'skip-back', '>': 'skip', '<': 'skip-back',
  Home: 'start', End: 'end', ' ': 'play', b: 'barrier', B: 'barrier-back', p: 'phase', P: 'phase-back',
  f: 'finding', F: 'finding-back', l: 'line', L: 'line-back', t: 'unit',
};

function nameOfKey(event) {
  const shifted = event.shiftKey && event.key.startsWith('Arrow') ? 'Shift+' + event.key : event.key;
  return KEYS[shifted];
}

function onKey(app, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const target = event.target, isRange = target.type === 'range';
  if (target.matches('input[type=number], input[type=text], select, textarea')) return;
  if (target.matches('button, summary, input') && !isRange && (event.key === ' ' || event.key === 'Enter')) return;
  const isCharacter = event.key.length === 1 && event.key !== ' ';
  if (isCharacter && !byId('letters').checked) return;
  const move = nameOfKey(event);
  if (!move) return;
  event.preventDefault();
  if (move !== 'play' && app.playing) stopPlaying(app);
  MOVES[move](app);
}

function setUnit(app, unit) {
  app.unit = unit;
  byId('unit').value = unit;
  if (unit !== 'thread' && app.state.lane !== NONE) goTo(app, { step: app.state.step });
}

function makeTime(app) {
  const slider = byId('slider');
  slider.min = NONE;
  slider.max = app.run.last;
  slider.addEventListener('input', () => goTo(app, { step: Number(slider.value) }));
  for (const button of document.querySelectorAll('[data-move]'))
    button.addEventListener('click', () => {
      if (button.dataset.move !== 'play' && app.playing) stopPlaying(app);
      MOVES[button.dataset.move](app);
    });
  byId('unit').addEventListener('change', () => setUnit(app, byId('unit').value));
  if (!barriers(app.run).length) byId('more').before(byId('skip'));
  byId('more').addEventListener('click', () => {
    const isOpen = byId('more-controls').hidden;
    byId('more-controls').hidden = !isOpen;
    byId('more').setAttribute('aria-expanded', String(isOpen));
  });
  document.addEventListener('keydown', (event) => onKey(app, event));
  byId('finding-forward').hidden = !findingSteps(app.run).length;
  for (const id of ['phase-back', 'phase-forward']) byId(id).hidden = !app.run.phases.length;
  for (const id of ['barrier-back', 'barrier-forward']) byId(id).hidden = !barriers(app.run).length;
  makeBar(app.run);
}
