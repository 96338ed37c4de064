'use strict';
/* The walkthrough: one block of a kernel's run, played back. The scripts of the page, in this order:
 *
 *   run.js         the data that data.c writes, decoded: arrays, steps, accesses; who stored what all
 *                  cells hold after a step
 *   words.js       names of elements and threads, ranges, numbers; a step in words, where values
 *                  came from, and what the checker found
 *   access.js      what an index computes, with a thread's numbers put in; banks, sectors, loads;
 *                  the products of a thread's elements of C, and their sum so far
 *   draw.js        grids of cells, outlines and hatching as SVG; knows nothing of the page
 *   scene.js       which arrays are drawn where, and what is marked in them at a step
 *   code.js        the source, with the line that acts
 *   time.js        the bar, buttons and keys
 *   main.js        starts all of this; the state in the address
 *
 * They share one scope. No text of the data ever becomes HTML: only textContent is used.
 *
 * The data. Numbers count from 0. A thread's number is x + block.x * (y + block.y * z); its warp is
 * that divided by 32, its lane the rest.
 *
 *   file, source the submission: its name, its lines
 *   shape        the lab's parameters by their names
 *   launch       {grid, block (both [x, y, z]), line (0: unknown), text (in words), ...}: as in a
 *                finding
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
 *                    [line, interval, warp, [[site, lane, offset, value, ...], ...]]
 *                the offset is in elements, and possibly outside the array; of `words` values null
 *                is not a number, or not known. Those of atomic operations are the new ones, and as
 *                many follow that they have replaced. A barrier that opens:
 *                    [line, interval, -1, threads, {waiting, returned} (if at two lines)]
 *   as_run_from  the step from which on each is one thread's, in the order in which they ran; null
 *   end          {waiting: [{line, threads: [[first, count], ...]}], returned: [...], stopped}
 *   finding      null, or what the checker found, in words, and what they are made of: kind, variable
 *                and `index` of the element (null: none is known), slots (report/record/slots.def);
 *                never_ends: it is of such a kind. step and other_step are steps
 *   naive        elements of inputs that the plainest kernel loads for each one that it stores; 0: not known
 *   loads        null, or {launch, naive}: elements of inputs that are loaded
 *   indices      null, or what --indices knows, as JSON
 *   left_out     accesses that are not here: for lack of room, or after a race
 *   counted      whether those are all; else there were more */

const WARP = 32;
const NONE = -1;

/* Arrays are drawn in rows: the last dimension is across, the others, taken together, are down. One
 * dimension, or none that is known, is drawn in rows as long as those of a square would be, if a
 * shared array has one element for each thread; else in rows of 32 words: once round the banks, or
 * as many as a warp has threads. */
function shapeOf({ role, dims, words }, [x, y]) {
  const count = words ?? dims.reduce((product, extent) => product * extent);
  const all = dims.length ? dims : [count];
  let cols = all.at(-1);
  if (all.length === 1) {
    const edge = y > 1 ? x : Math.sqrt(x);
    const isEdge = Number.isInteger(edge) && edge > 1 && edge < WARP && count % edge === 0;
    cols = Math.min(count, isEdge && role === 'shared' ? edge : WARP);
  }
  return { dims: all, words: count, rows: Math.ceil(count / cols), cols };
}

function decodeArray(array, number, { block }) {
  return {
    ...array, ...shapeOf(array, block), number,
    /* what a cell holds before the kernel runs */
    initial: array.role === 'input' && array.values ? array.values.map((value) => valueOf(array, value)) : null,
    accesses: new Map(), /* offset -> its accesses */
    unwrittenSet: new Set(expandRuns(array.unwritten || [])),
    wrongMap: new Map(array.wrong || []),
  };
}

/* Of a number in the data, which has as many digits as tell it from others of its type. */
const valueOf = (array, value) => (value === null ? NaN : array.float32 ? Math.fround(value) : value);

/* [[first, count], ...] -> all numbers in these runs. */
const expandRuns = (runs) => runs.flatMap(([first, count]) => range(first, first + count));

/* Who waits at which line, and who has returned, as lists of threads. */
function decodeWho({ waiting = [], returned = [] }) {
  const lists = waiting.map(({ line, threads }) => ({ line, threads: expandRuns(threads) }));
  return { waiting: lists, returned: expandRuns(returned) };
}

function decodeStep(run, [line, interval, warp, what, who], number) {
  const step = { number, line, interval, warp, who: who && decodeWho(who), threads: 0, accesses: [] };
  if (warp < 0) step.threads = what;
  else for (const access of what) decodeAccess(run, step, access);
  step.lanes = ascending(step.accesses.map((a) => a.thread % WARP));
  return step;
}

/* One access for each element, so several for a lane that accesses several at once. */
function decodeAccess(run, step, [siteNumber, lane, offset, ...values]) {
  const site = run.sites[siteNumber], { array, write, words } = site;
  for (let i = 0; i < words; i++)
    step.accesses.push({
      number: 0, step: step.number, thread: step.warp * WARP + lane,
      site, array, write, offset: offset + i,
      value: valueOf(array, values[i]),
      old: valueOf(array, values[words + i]), /* that an atomic operation has replaced */
      before: null, /* the store that this one replaces, or this load reads */
      from: null,   /* of a store: the load whose value it is, if that is known */
      origin: null, /* which element of an input the value is: {array, offset} */
    });
}

function decodeRun(data) {
  const arrays = data.arrays.map((array, number) => decodeArray(array, number, data.launch));
  const of = (role) => arrays.filter((array) => array.role === role);
  const threadCount = data.launch.block.reduce((product, extent) => product * extent);
  const run = {
    ...data, arrays, inputs: of('input'), outputs: of('output'), shared: of('shared'), threadCount,
    globals: arrays.filter((array) => array.role !== 'shared'), /* which have the first numbers */
    sites: data.sites.map((site) => ({ ...site, array: arrays[site.array], accesses: [] })),
    indices: data.indices?.accesses || [],
    end: { ...data.end, ...decodeWho(data.end) },
    output: data.sum ? arrays[data.sum.output] : null, /* whose sums are followed */
    ofThread: Array.from({ length: threadCount }, () => []), /* each one's accesses */
  };
  run.steps = data.steps.map((step, number) => decodeStep(run, step, number));
  run.accesses = run.steps.flatMap((step) => step.accesses);
  run.accesses.forEach((a, number) => {
    a.number = number;
    a.site.accesses.push(a);
    addTo(a.array.accesses, a.offset, a);
    run.ofThread[a.thread].push(a);
  });
  run.loadsOfInputs = run.accesses.filter((a) => !a.write && a.array.role === 'input');
  run.inputs.forEach((array, i) => { array.hue = 'ab'[i % 2]; });
  for (const array of run.outputs) array.hue = 'c';
  for (const array of run.shared) array.hue = 'shared';
  run.last = run.steps.length - 1;
  run.isCut = Boolean(run.left_out) || run.end.stopped; /* the block did more, or would have */
  run.undefinedAfter = run.steps.findIndex((step) => step.who); /* a barrier that not all threads were at; -1: none */
  linkAccesses(run);
  findPhases(run);
  for (const array of run.globals) { /* the finding's element, if it is in a column that there is not */
    const cell = findingCell(run, array);
    array.beyond = cell?.col >= array.cols ? cell : null;
  }
  return run;
}

/* Adds to the list that a map has for this key. */
function addTo(lists, key, value) {
  if (!lists.has(key)) lists.set(key, []);
  lists.get(key).push(value);
}

/* --- which store a load reads, and which load a store's value is from ------------------------- */

function linkAccesses(run) {
  const latest = run.arrays.map(() => new Map()); /* offset -> the last store there so far */
  linkCopies(run);
  for (const a of run.accesses) {
    const stores = latest[a.array.number];
    a.before = stores.get(a.offset) || null;
    if (a.write) stores.set(a.offset, a);
    const source = a.write ? a.from : a.before;
    if (source) a.origin = source.origin;
    else if (!a.write && a.array.role === 'input') a.origin = a;
  }
}

/* What is in registers is not recorded. A value that a thread loads and stores unchanged is recognized by
 * being the same number, and several loads may have it. So each store to a shared array has candidates;
 * and an instruction that stores is known by what fits all of its stores. An output gets sums, not copies. */
function linkCopies(run) {
  const candidates = findCandidates(run), instructions = new Map(); /* site -> its stores' sources */
  for (const [{ site, value }, loads] of candidates) {
    if (value === 0) continue;
    const before = instructions.get(site) || { copies: true, sites: new Set(loads.keys()) };
    const sites = new Set([...before.sites].filter((each) => loads.has(each)));
    instructions.set(site, { copies: before.copies && loads.size > 0, sites });
  }
  for (const [store, loads] of candidates) store.from = chosen(instructions.get(store.site), loads);
}

/* The load that a store's value is from; null: it is not known. */
function chosen(instruction, loads) {
  if (instruction && !instruction.copies) return null; /* it stores what was computed, too */
  const isAny = !instruction?.sites.size;
  const fitting = [...loads].filter(([site]) => isAny || instruction.sites.has(site));
  return fitting.length === 1 ? fitting[0][1].load : null;
}

/* For each store to shared memory, by instruction, the loads of the same number by the same thread; one
 * within the same line counts alone. 0 is recognized only there: there are too many other zeros. */
function findCandidates(run) {
  const candidates = new Map();
  for (const accesses of run.ofThread) {
    const loaded = new Map(); /* value -> site -> the load */
    for (const a of accesses) {
      const loads = loaded.get(a.value) || new Map();
      if (!a.write) {
        noteLoad(loads, a);
        loaded.set(a.value, loads);
      } else if (a.array.role === 'shared' && !a.site.atomic && !Number.isNaN(a.value)) {
        const within = [...loads].filter(([, { last }]) => last.step === a.step);
        candidates.set(a, new Map(within.length || a.value === 0 ? within : loads));
        for (const each of loads.values()) each.stored = true;
      }
    }
  }
  return candidates;
}

/* Of two elements with the same number, loaded one after the other before either is stored, it is not
 * known which one is. */
function noteLoad(loads, a) {
  const earlier = loads.get(a.site);
  const isOther = earlier && !earlier.stored && earlier.load?.offset !== a.offset;
  loads.set(a.site, { load: isOther ? null : a, last: a, stored: false });
}

/* --- phases ----------------------------------------------------------------------------------- */

/* Intervals lie between barriers. One that loads from an input begins a phase, if there are barriers at
 * all; one that only stores to outputs belongs to none. */
function findPhases(run) {
  run.intervals = [];
  for (const step of run.steps) {
    if (run.intervals.at(-1)?.number !== step.interval)
      run.intervals.push({ number: step.interval, first: step.number, barrier: NONE,
                           loads: false, computes: false, stores: false });
    const interval = step.interval = run.intervals.at(-1);
    interval.end = step.number;
    if (step.warp < 0) interval.barrier = step.number;
    for (const { array: { role }, write } of step.accesses) {
      interval.loads ||= role === 'input' && !write;
      interval.computes ||= role === 'shared' && !write;
      interval.stores ||= role === 'output' && write;
    }
  }
  run.phases = [];
  const tiled = run.intervals.length > 1 && run.intervals.some((i) => i.computes);
  for (const interval of run.intervals) {
    const { loads, computes, stores, first, end } = interval;
    if (tiled && loads) run.phases.push({ number: run.phases.length, first, end });
    const phase = loads || computes || !stores ? run.phases.at(-1) : undefined;
    interval.phase = phase?.number ?? NONE;
    if (phase) phase.end = end;
  }
}

const phaseAt = (run, step) => (step < 0 ? 0 : run.steps[step].interval.phase);

/* After the last phase it is still the last one. */
function phaseNear(run, step) {
  if (!run.phases.length) return NONE;
  const phase = phaseAt(run, step);
  return phase !== NONE ? phase : step > run.phases[0].first ? run.phases.length - 1 : 0;
}

/* --- the state after a step ------------------------------------------------------------------- */

/* Steps 0 to `step` are done; NONE: none. Of that one only lanes up to `lane`; NONE: all. */
const makeState = (run) => ({ run, step: NONE, lane: NONE });

/* The store whose value is at a place: {array, offset}, as an access has them. */
const storeAt = (state, { array, offset }) =>
  array.accesses.get(offset)?.findLast((a) => a.write && isDone(state, a)) || null;

/* undefined: nothing was stored there, or its value is not known. */
function valueAt(state, place) {
  const { array, offset } = place, store = storeAt(state, place);
  if (store) return store.value;
  if (array.role !== 'input') return undefined;
  if (array.initial) return array.initial[offset];
  return array.accesses.get(offset)?.find((a) => !a.write && !a.before)?.value; /* of a large one */
}

/* The accesses of the step so far: of the lanes that have run, or of one lane alone. */
function actingAccesses({ run, step, lane }) {
  const { accesses = [] } = run.steps[step] || {};
  return lane === NONE ? accesses : accesses.filter((a) => a.thread % WARP === lane);
}

/* Whether the access has been made; of the present step some lanes may be done. */
const isDone = (state, { step, thread }) => step < state.step ||
  (step === state.step && (state.lane === NONE || thread % WARP <= state.lane));

/* Whether all of the step has been. */
const isWhole = ({ run, step, lane }) => lane === NONE || lane === run.steps[step].lanes.at(-1);
