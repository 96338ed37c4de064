/* Values and writers of all cells after a step. Each store knows the one that it replaces
 * (accesses.before), so time runs backwards as well as forwards, without copies of old states. */

function makeState(run) {
  return {
    run,
    step: NONE,  /* steps 0 to this one are done; NONE: none */
    lane: NONE,  /* of this step, only lanes up to this one; NONE: all of them */
    writer: run.arrays.map(() => new Map()), /* offset -> the store whose value is there */
    undo: [],    /* of a step of which some lanes are done */
  };
}

function applyStep(state, step) {
  const { run, writer } = state;
  for (let a = step.first; a < step.end; a++) {
    const site = siteOf(run, a);
    if (site.write) writer[site.array].set(run.accesses.offset[a], a);
  }
}

function setWriter(writer, offset, store) {
  if (store === NONE || store === undefined) writer.delete(offset);
  else writer.set(offset, store);
}

function revertStep(state, step) {
  const { run, writer } = state;
  for (let a = step.end - 1; a >= step.first; a--) {
    const site = siteOf(run, a);
    if (site.write) setWriter(writer[site.array], run.accesses.offset[a], run.accesses.before[a]);
  }
}

/* Part of a step: the lanes that have run, in their order. */
function applyLanes(state, step, lane) {
  const { run, writer } = state;
  const first = step.warp * WARP;
  for (let l = 0; l <= lane; l++)
    for (let a = step.first; a < step.end; a++) {
      const site = siteOf(run, a), offset = run.accesses.offset[a];
      if (!site.write || run.accesses.thread[a] !== first + l) continue;
      state.undo.push([site.array, offset, writer[site.array].get(offset)]);
      writer[site.array].set(offset, a);
    }
}

function completeSteps(state) {
  if (state.lane === NONE) return;
  for (const [array, offset, store] of state.undo.reverse()) setWriter(state.writer[array], offset, store);
  state.undo = [];
  state.lane = NONE;
  state.step--;
}

function moveTo(state, step, lane = NONE) {
  completeSteps(state);
  const whole = lane === NONE ? step : step - 1;
  while (state.step < whole) applyStep(state, state.run.steps[++state.step]);
  while (state.step > whole) revertStep(state, state.run.steps[state.step--]);
  if (lane === NONE) return;
  applyLanes(state, state.run.steps[step], lane);
  state.step = step;
  state.lane = lane;
}

/* undefined: nothing was stored there, or its value is not known. */
function valueAt(state, array, offset) {
  const store = state.writer[array.number].get(offset);
  if (store !== undefined) return state.run.accesses.value[store];
  if (array.role !== 'input') return undefined;
  return array.initial ? array.initial[offset] : array.seen.get(offset);
}

/* The accesses of the step so far: of the lanes that have run, or of one lane alone. */
function actingAccesses(state) {
  const step = state.run.steps[state.step];
  if (!step || step.warp < 0) return [];
  const list = [];
  for (let a = step.first; a < step.end; a++)
    if (state.lane === NONE || state.run.accesses.thread[a] === step.warp * WARP + state.lane) list.push(a);
  return list;
}

/* Whether the thread has made its part of the present step, of which some lanes may be done. */
const hasRun = (state, thread) => state.lane === NONE || thread % WARP <= state.lane;

/* Whether the access has been made. */
function isDone(state, access) {
  const { step, thread } = state.run.accesses;
  return step[access] < state.step || (step[access] === state.step && hasRun(state, thread[access]));
}

/* Whether all of the step has been. */
const isWhole = (state) => state.lane === NONE || state.lane === Math.max(...lanesOf(state.run.steps[state.step]));

function lanesOf(step) {
  const lanes = [];
  for (let lane = 0; lane < WARP; lane++) if ((step.lanes >>> lane) & 1) lanes.push(lane);
  return lanes;
}
