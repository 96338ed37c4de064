'use strict';
/* The walkthrough: one block of a kernel's run, played back. The scripts of the page, in this order:
 *
 *   run.js         the data that data.c writes, decoded: arrays, steps, accesses; values and writers
 *                  of all cells after a step
 *   words.js       names of elements and threads, ranges, numbers, as CUDA writes them
 *   formula.js     what an index computes, with a thread's numbers put in
 *   provenance.js  where a value came from and who reads it
 *   sums.js        the products of a thread's elements of C, and their sum so far
 *   sentence.js    a step in words, and what the checker found
 *   draw.js        grids of cells, outlines and hatching as SVG; knows nothing of the page
 *   scene.js       which arrays are drawn where, and what is marked in them at a step
 *   code.js        the source, with the line that acts, and how wide it is
 *   costs.js       banks, sectors, loads so far
 *   time.js        the bar, buttons and keys
 *   predict.js     questions before a barrier
 *   table.js       the same in text
 *   main.js        starts all of this; the state in the address
 *
 * They share one scope. No text of the data ever becomes HTML: only textContent is used.
 *
 * The data. Numbers count from 0. A thread's number is x + block.x * (y + block.y * z); its warp is
 * that divided by 32, its lane the rest.
 *
 *   file, source the submission: its name, its lines
 *   shape        the lab's parameters by their names
 *   launch       {kernel, number, of, grid, block, shared_bytes, line (0: unknown)}: which one, from
 *                1, of how many of the run; grid and block are [x, y, z]
 *   words        what the lab calls an array, several, and a phase
 *   sum          null, or {output, factors: [{array, axes}, ...]}: an element of the array `output` is a
 *                sum of products of one element of each of these arrays; for row and column of an
 *                element, `axes` has the axis (0: row, 1: column) of the output's element with the same
 *                index, or -1: that is the number of the term
 *   block        blockIdx of the block that is shown
 *   arrays       the lab's, then the shared ones. {name, role: input, output or shared}, float32 (or
 *                another type), bytes (of an element), dims (extents), params (which parameters those are, null: none alone), by (the axis
 *                that threads usually have by their x, and by their y; -1: none), panel (struct lab_panel),
 *                values (inputs) or final (outputs; after all blocks); outputs also have `unwritten`,
 *                [[first, count], ...], what no thread stored, and the first one `wrong`, [[offset, expected], ...].
 *                Shared: dims (none: not known), words (elements). Arrays that are too large have no values.
 *   sites        instructions that access memory: {line, array, write, atomic, words (elements)}
 *   steps        what one line does for one warp, once:
 *                    [line, interval, warp, [[site, lanes, [offset, ...], [value, ...]], ...]]
 *                one offset (in elements, possibly outside the array) and `words` values for each bit
 *                in lanes; null: not a number, or not known. Of atomic operations the values are the
 *                new ones, and as many that they have replaced follow: [..., [value, ...]]. A barrier that opens:
 *                    [line, interval, -1, threads, {waiting, returned} (if at two lines)]
 *   as_run_from  the step from which on each is one thread's, in the order in which they ran; null
 *   end          {waiting: [{line, threads: [[first, last], ...]}], returned: [...], stopped}
 *   finding      null, or what the checker found, in words, and what they are made of: kind, variable
 *                and `index` of the element (null: none is known), slots (report/record/slots.def); race,
 *                never_ends: of its kind. step and other_step are steps
 *   naive        elements of inputs that the plainest kernel loads for each one that it stores; 0: not known
 *   loads        null, or {launch, naive}: elements of inputs that are loaded
 *   indices      null, or what --indices knows, as JSON
 *   left_out     accesses that are not here: for lack of room, or after a race
 *   counted      whether those are all; else there were more */

const WARP = 32;
const NONE = -1;

/* Shared arrays are drawn as slices of rows and columns: the last two dimensions. One dimension, or
 * none that is known, is drawn in rows as long as those of a square would be, if there is one element
 * for each thread; else in rows of 32 words: once round the banks. */
function shapeOfShared(array, [x, y]) {
  const dims = array.dims.length ? array.dims : [array.words];
  if (dims.length === 1) {
    const edge = y > 1 ? x : Math.sqrt(x);
    const cols = Math.min(dims[0], Number.isInteger(edge) && edge > 1 && edge < WARP && dims[0] % edge === 0 ? edge : WARP);
    return { dims, slices: 1, rows: Math.ceil(dims[0] / cols), cols };
  }
  const [rows, cols] = dims.slice(-2);
  return { dims, slices: Math.max(1, Math.floor(array.words / (rows * cols))), rows, cols };
}

/* One of the lab's: columns are its last dimension. One dimension alone is drawn in rows of as many as
 * a warp has threads. */
function shapeOfGlobal({ dims }) {
  const words = dims.reduce((product, extent) => product * extent), last = dims[dims.length - 1];
  const cols = dims.length > 1 ? last : Math.min(last, WARP);
  return { words, slices: 1, rows: Math.ceil(words / cols), cols };
}

function decodeArray(array, number, launch) {
  return {
    ...array, ...(array.role === 'shared' ? shapeOfShared(array, launch.block) : shapeOfGlobal(array)), number,
    /* what a cell holds before the kernel runs */
    initial: array.role === 'input' && array.values ? Float64Array.from(array.values, (value) => valueOf(array, value)) : null,
    seen: new Map(), /* offset -> value that was read before any store: all that is known of a large one */
    unwrittenSet: expandRuns(array.unwritten || []),
    wrongMap: new Map(array.wrong || []),
  };
}

/* Of a number in the data, which has as many digits as tell it from others of its type. */
const valueOf = (array, value) => (value === null ? NaN : array.float32 ? Math.fround(value) : value);

function expandRuns(runs) {
  const set = new Set();
  for (const [first, count] of runs) for (let i = first; i < first + count; i++) set.add(i);
  return set;
}

function countAccesses(data) {
  let count = 0;
  for (const step of data.steps)
    if (step[2] >= 0) for (const access of step[3]) count += access[3].length;
  return count;
}

/* Accesses in columns, one row an element: an access of several elements is several rows. */
function makeAccesses(count) {
  return {
    count,
    step: new Int32Array(count),
    site: new Int32Array(count),
    thread: new Int32Array(count),
    offset: new Int32Array(count),
    value: new Float64Array(count),
    old: new Float64Array(count),  /* that an atomic operation has replaced */
    before: new Int32Array(count), /* the store that this one replaces, or this load reads; NONE */
    from: new Int32Array(count),   /* of a store: the load whose value it is, if that is known */
    originArray: new Int8Array(count).fill(NONE), /* which element of an input the value is */
    originOffset: new Int32Array(count),
  };
}

function decodeSteps(data, accesses) {
  let next = 0;
  const steps = data.steps.map((raw, number) => {
    const [line, interval, warp, what, who] = raw;
    const step = { number, line, interval, warp, first: next, end: next, lanes: 0, threads: 0, who: who || null };
    if (warp < 0) {
      step.threads = what;
      return step;
    }
    for (const access of what) next = decodeAccess(data, accesses, step, access, next);
    step.end = next;
    return step;
  });
  return steps;
}

function decodeAccess(data, accesses, step, [site, lanes, offsets, values, old = values], next) {
  const { words, array } = data.sites[site];
  let lane = 0;
  step.lanes |= lanes;
  offsets.forEach((offset, i) => {
    while (!((lanes >>> lane) & 1)) lane++;
    for (let w = 0; w < words; w++, next++) {
      accesses.step[next] = step.number;
      accesses.site[next] = site;
      accesses.thread[next] = step.warp * WARP + lane;
      accesses.offset[next] = offset + w;
      accesses.value[next] = valueOf(data.arrays[array], values[i * words + w]);
      accesses.old[next] = valueOf(data.arrays[array], old[i * words + w]);
    }
    lane++;
  });
  return next;
}

function decodeRun(data) {
  const accesses = makeAccesses(countAccesses(data));
  const arrays = data.arrays.map((array, number) => decodeArray(array, number, data.launch));
  const of = (role) => arrays.filter((array) => array.role === role);
  const run = {
    ...data, arrays, inputs: of('input'), outputs: of('output'), shared: of('shared'),
    globals: arrays.filter((array) => array.role !== 'shared'), /* which have the first numbers */
    steps: decodeSteps(data, accesses),
    accesses,
    indices: (data.indices && (data.indices.accesses || data.indices)) || [],
    threadCount: data.launch.block[0] * data.launch.block[1] * data.launch.block[2],
    output: data.sum ? data.sum.output : NONE, /* whose sums are followed */
  };
  run.inputs.forEach((array, i) => { array.hue = 'ab'[i % 2]; });
  for (const array of run.outputs) array.hue = 'c';
  run.last = run.steps.length - 1;
  run.isCut = Boolean(run.left_out) || run.end.stopped; /* the block did more, or would have */
  run.undefinedAfter = run.steps.findIndex((step) => step.who); /* a barrier that not all threads were at; -1: none */
  linkAccesses(run);
  findPhases(run);
  for (const array of run.globals) array.beyond = findingBeyond(run, array);
  return run;
}

/* The finding's element, if it is in a column that the array does not have. */
function findingBeyond(run, array) {
  const cell = findingCell(run, array);
  return cell && cell.col >= array.cols ? cell : null;
}

/* Adds to the list that a map has for this key. */
function addTo(lists, key, value) {
  if (!lists.has(key)) lists.set(key, []);
  lists.get(key).push(value);
}

const siteOf = (run, access) => run.sites[run.accesses.site[access]];
const arrayOf = (run, access) => run.arrays[siteOf(run, access).array];

/* --- which store a load reads, and which load a store's value is from ------------------------- */

function linkAccesses(run) {
  const writer = run.arrays.map(() => new Map());
  linkCopies(run);
  for (let a = 0; a < run.accesses.count; a++) {
    const site = siteOf(run, a), offset = run.accesses.offset[a];
    const before = writer[site.array].get(offset);
    run.accesses.before[a] = before === undefined ? NONE : before;
    if (site.write) {
      if (run.accesses.from[a] !== NONE) copyOrigin(run, a, run.accesses.from[a]);
      writer[site.array].set(offset, a);
    } else {
      linkLoad(run, a);
    }
  }
}

function linkLoad(run, a) {
  const { value, offset, before } = run.accesses;
  const array = arrayOf(run, a);
  if (before[a] !== NONE) {
    copyOrigin(run, a, before[a]);
    return;
  }
  array.seen.set(offset[a], value[a]);
  if (array.role === 'input') setOrigin(run, a, array.number, offset[a]);
}

/* What is in registers is not recorded. A value that a thread loads and stores unchanged is recognized by
 * being the same number, and several loads may have it. So each store to a shared array has candidates;
 * and an instruction that stores is known by what fits all of its stores. An output gets sums, not copies. */
function linkCopies(run) {
  const candidates = findCandidates(run), instructions = new Map(); /* site -> its stores' sources */
  for (const [store, loads] of candidates) {
    const site = run.accesses.site[store];
    if (run.accesses.value[store] === 0) continue;
    const before = instructions.get(site) || { copies: true, sites: new Set(loads.keys()) };
    const sites = new Set([...before.sites].filter((each) => loads.has(each)));
    instructions.set(site, { copies: before.copies && loads.size > 0, sites });
  }
  run.accesses.from.fill(NONE);
  for (const [store, loads] of candidates)
    run.accesses.from[store] = chosen(instructions.get(run.accesses.site[store]), loads);
}

/* The load that a store's value is from; NONE: it is not known. */
function chosen(instruction, loads) {
  if (instruction && !instruction.copies) return NONE; /* it stores what was computed, too */
  const fitting = [...loads].filter(([site]) => !instruction || !instruction.sites.size || instruction.sites.has(site));
  return fitting.length === 1 ? fitting[0][1].load : NONE;
}

/* For each store to shared memory, by instruction, the loads of the same number by the same thread; one
 * within the same line counts alone. 0 is recognized only there: there are too many other zeros. */
function findCandidates(run) {
  const { thread, value, step } = run.accesses;
  const loaded = new Map(), candidates = new Map(); /* thread -> value -> site -> the load */
  for (let a = 0; a < run.accesses.count; a++) {
    if (!loaded.has(thread[a])) loaded.set(thread[a], new Map());
    const values = loaded.get(thread[a]), loads = values.get(value[a]) || new Map();
    if (!siteOf(run, a).write) {
      noteLoad(run, loads, a);
      values.set(value[a], loads);
    } else if (arrayOf(run, a).role === 'shared' && !siteOf(run, a).atomic && !Number.isNaN(value[a])) {
      const within = [...loads].filter(([, { last }]) => step[last] === step[a]);
      candidates.set(a, new Map(within.length || value[a] === 0 ? within : loads));
      for (const each of loads.values()) each.stored = true;
    }
  }
  return candidates;
}

/* Of two elements with the same number, loaded one after the other before either is stored, it is not
 * known which one is. */
function noteLoad(run, loads, a) {
  const { site, offset } = run.accesses, earlier = loads.get(site[a]);
  const isOther = earlier && !earlier.stored && (earlier.load === NONE || offset[earlier.load] !== offset[a]);
  loads.set(site[a], { load: isOther ? NONE : a, last: a, stored: false });
}

function setOrigin(run, a, array, offset) {
  run.accesses.originArray[a] = array;
  run.accesses.originOffset[a] = offset;
}

function copyOrigin(run, a, other) {
  setOrigin(run, a, run.accesses.originArray[other], run.accesses.originOffset[other]);
}

/* --- phases ----------------------------------------------------------------------------------- */

/* Intervals lie between barriers. One that loads from an input begins a phase, if there are barriers at
 * all; one that only stores to outputs belongs to none. */
function findPhases(run) {
  run.intervals = [];
  for (const step of run.steps) {
    const interval = (run.intervals[step.interval] ||= newInterval(step));
    interval.end = step.number;
    if (step.warp < 0) interval.barrier = step.number;
    for (let a = step.first; a < step.end; a++) noteKind(run, interval, a);
  }
  run.intervals = run.intervals.filter(Boolean);
  numberPhases(run);
}

function newInterval(step) {
  return { number: step.interval, first: step.number, end: step.number, barrier: NONE,
           loads: false, computes: false, stores: false, phase: NONE };
}

function noteKind(run, interval, a) {
  const site = siteOf(run, a), role = run.arrays[site.array].role;
  if (role === 'input' && !site.write) interval.loads = true;
  if (role === 'shared' && !site.write) interval.computes = true;
  if (role === 'output' && site.write) interval.stores = true;
}

function numberPhases(run) {
  let phase = NONE;
  run.phases = [];
  run.byInterval = new Map();
  const tiled = run.intervals.length > 1 && run.intervals.some((i) => i.computes);
  for (const interval of run.intervals) {
    run.byInterval.set(interval.number, interval);
    if (tiled && interval.loads) run.phases[++phase] = { number: phase, first: interval.first, end: interval.end };
    const within = phase !== NONE && (interval.loads || interval.computes || !interval.stores);
    interval.phase = within ? phase : NONE;
    if (within) run.phases[phase].end = interval.end;
  }
}

const phaseAt = (run, step) => (step < 0 ? 0 : run.byInterval.get(run.steps[step].interval).phase);

/* --- the state after a step --------------------------------------------------------------------
 *
 * Values and writers of all cells. Each store knows the one that it replaces (accesses.before), so time
 * runs backwards as well as forwards, without copies of old states. */

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
