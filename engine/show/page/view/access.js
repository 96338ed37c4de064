/* What the accesses of a step compute, and what they cost; and the sums that a thread makes of them.
 *
 * An index: formulas such as A[(blockIdx.y * 16 + threadIdx.y) * k + 16 * phase + threadIdx.x], as
 * --indices writes them, evaluated with a thread's numbers. The page's policy allows no eval(). */

const tokenize = (text) => text.match(/\d+|[A-Za-z_][\w.]*|[-+*/%()]/g) || [];

const OPERATIONS = {
  '+': (x, y) => x + y, '-': (x, y) => x - y, '*': (x, y) => x * y,
  '/': (x, y) => Math.trunc(x / y), '%': (x, y) => x % y,
};

/* The value of the text, where `names` has the values of its variables; null: it cannot be said. */
function evaluate(text, names) {
  const tokens = tokenize(text);
  const chainOf = (operators, operand) => () => {
    let value = operand();
    while (operators.includes(tokens[0])) value = OPERATIONS[tokens.shift()](value, operand());
    return value;
  };
  const factor = () => {
    const token = tokens.shift();
    if (token === '-') return -factor();
    if (token !== '(') return Number(names[token] ?? token);
    const value = sum();
    return tokens.shift() === ')' ? value : NaN;
  };
  const sum = chainOf(['+', '-'], chainOf(['*', '/', '%'], factor)), value = sum();
  return !tokens.length && Number.isFinite(value) ? value : null;
}

/* "A[...][...]" -> what is between the brackets of each index. */
const bracketsOf = (element) => [...element.matchAll(/\[([^\]]*)\]/g)].map(([, index]) => index);

const putIn = (element, names) =>
  element.replace(/[A-Za-z_][\w.]*/g, (name) => (Object.hasOwn(names, name) ? String(names[name]) : name));

/* How often this thread has made the access before, in its interval; and the number of the interval
 * among those of the block in which the instruction runs. */
function countsBefore(run, access) {
  const { site, thread, step } = access, { interval } = run.steps[step], intervals = new Set();
  let turns = 0;
  for (const a of site.accesses) {
    if (a === access) break;
    const earlier = run.steps[a.step].interval;
    if (earlier !== interval) intervals.add(earlier);
    else if (a.thread === thread) turns++;
  }
  return { phase: intervals.size, step: Math.floor(turns / site.words) };
}

function namesOfThread(run, thread, [bx, by, bz]) {
  const [x, y, z] = threadIndex(run, thread);
  return { ...run.shape, 'threadIdx.x': x, 'threadIdx.y': y, 'threadIdx.z': z,
           'blockIdx.x': bx, 'blockIdx.y': by, 'blockIdx.z': bz };
}

/* The formula of this access and its numbers: only one that gives the element that was accessed. */
function formulaAt(run, a) {
  const kind = a.write ? 'write' : 'read';
  const entries = run.indices.filter(({ element, line, array, access }) =>
    element && line === a.site.line && array === a.array.name && access === kind);
  if (!entries.length) return null;
  const names = { ...namesOfThread(run, a.thread, run.block), ...countsBefore(run, a) };
  const isRight = ({ element }) => {
    const index = bracketsOf(element).map((text) => evaluate(text, names));
    if (!index.length || index.includes(null)) return false;
    return index.length === 1 ? index[0] === a.offset
      : index.length === a.array.dims.length && offsetOf(a.array, index) === a.offset;
  };
  return { names, entry: entries.find(isRight) };
}

/* --- the pane --------------------------------------------------------------------------------- */

/* The recovered index of the accesses in this step, with the thread's numbers put in. */
function updateIndex({ run, state, selection }) {
  const acting = actingAccesses(state), isOwn = acting.some((a) => a.thread === selection.thread);
  const thread = isOwn ? selection.thread : acting[0]?.thread;
  const sites = bySite(acting.filter((a) => a.thread === thread)).slice(0, 4);
  const isAlone = (site) => acting.every((a) => a.site !== site || a.thread === thread);
  const rows = sites.map(([site, [a]]) => indexRow(run, a, isAlone(site))).filter(Boolean);
  const none = acting.length ? 'No formula is known for this line.' : 'No access in this step.';
  byId('index').replaceChildren(...(rows.length ? rows : [element('p', 'quiet', none)]));
  byId('index-title').textContent = 'Index' +
    (rows.length ? ', with the numbers of thread ' + threadName(run, thread) : '');
}

/* How the warp's threads share an access to global memory; said where several make it. */
const SHARING = {
  coalesced: 'neighboring threads access neighboring elements: coalesced',
  broadcast: 'the same element for every threadIdx.x: broadcast',
  strided: 'neighboring threads do not access neighboring elements: strided',
};

function indexRow(run, a, isAlone) {
  const { entry, names } = formulaAt(run, a) || {}, { array, offset } = a;
  if (!entry) return null;
  const flat = array.role === 'shared' ? [] : [`${array.name}[${offset}]`], formula = entry.element;
  const values = new Set([putIn(formula, names), ...flat, elementName(a)]);
  const within = run.phases.length ? ', in this phase' : '';
  const meanings = { phase: `the ${run.words.phase}, counted from 0`,
                     step: `how many times the thread made this access before${within}` };
  const used = Object.keys(meanings).filter((word) => new RegExp(`\\b${word}\\b`).test(formula));
  const notes = [used.map((word) => `${word} = ${names[word]}: ${meanings[word]}`).join('; ')];
  if (entry.warp && !isAlone) notes.push(`In the warp, ${SHARING[entry.warp]}.`);
  const row = element('div', 'index-row');
  row.append(element('code', 'formula', formula),
             ...[...values].map((text) => element('code', 'numbers', '= ' + text)),
             ...notes.filter(Boolean).map((text) => element('p', 'quiet', text)));
  return row;
}

/* --- what a warp's request costs ---------------------------------------------------------------
 *
 * Banks of shared memory and sectors of global memory that it needs, as --counts counts them. */

const SECTOR_WORDS = 8; /* 32 bytes */
const BANKS = 32;
const WORD_BYTES = 4;

/* The words that an element lies in. */
function wordsOf({ array: { bytes }, offset }) {
  const first = Math.floor(offset * bytes / WORD_BYTES);
  const last = Math.floor(((offset + 1) * bytes - 1) / WORD_BYTES);
  return range(first, last + 1);
}

/* Of one lane. */
const wordsOfSite = ({ words, array }) => Math.ceil(words * array.bytes / WORD_BYTES);

/* Words that the request needs from each bank, in the parts in which the hardware serves it: all
 * lanes at once, half a warp with 8 bytes a lane, a quarter with 16. */
function bankParts(site, accesses) {
  const words = wordsOfSite(site), lanes = words >= 4 ? 8 : words === 2 ? 16 : 32, parts = [];
  for (const a of accesses) {
    const number = Math.floor((a.thread % WARP) / lanes);
    const part = (parts[number] ||= Array.from({ length: BANKS }, () => new Set()));
    for (const word of wordsOf(a)) part[((word % BANKS) + BANKS) % BANKS].add(word);
  }
  return parts.filter(Boolean);
}

const worstOf = (part) => Math.max(...part.map((words) => words.size));

function bankStrip(site, accesses) {
  const parts = bankParts(site, accesses), passes = parts.reduce((sum, part) => sum + worstOf(part), 0);
  const worst = Math.max(...parts.map(worstOf));
  const wanted = Array.from({ length: BANKS }, (_, b) => Math.max(...parts.map((part) => part[b].size)));
  const text = `${plural(passes, 'pass', 'passes')} through shared memory` +
    (parts.length > 1 ? `, ${wordsOfSite(site)} words a lane` : '') +
    (passes === parts.length ? ': no bank conflict' : `: ${worst}-way bank conflict`);
  return { picture: drawBanks(wanted, worst), text };
}

const STRIP = { cell: 9, high: 7, most: 8 };

function drawBanks(wanted, worst) {
  const rows = Math.min(worst, STRIP.most), height = rows * STRIP.high + 14;
  const node = svg('svg', { class: 'strip banks', width: BANKS * STRIP.cell + 2, height, role: 'img', 'aria-label': 'words needed from each of 32 banks: ' + wanted.join(' ') });
  wanted.forEach((count, bank) => {
    for (let i = 0; i < Math.max(1, Math.min(count, rows)); i++)
      node.append(svg('rect', { class: i >= count ? 'free' : i ? 'conflict' : 'used', x: bank * STRIP.cell + 1,
                                y: (rows - 1 - i) * STRIP.high + 1, width: STRIP.cell - 1, height: STRIP.high - 1 }));
  });
  for (const bank of [0, 8, 16, 24, 31]) node.append(svg('text', { class: 'label', x: bank * STRIP.cell + 5, y: height - 3 }, String(bank)));
  return node;
}

/* Arrays begin at multiples of 32 bytes, so an element's offset says its sector. */
function sectorStrip(accesses) {
  const used = ascending(accesses.flatMap(wordsOf)), sectors = new Map();
  for (const word of used) addTo(sectors, Math.floor(word / SECTOR_WORDS), word);
  const share = Math.round(100 * used.length / (sectors.size * SECTOR_WORDS));
  const text = `${plural(sectors.size, 'sector')} of 32 bytes; ${share} % of ${sectors.size === 1 ? 'its' : 'their'} bytes are used`;
  return { picture: drawSectors([...sectors]), text };
}

function drawSectors(sectors) {
  const perRow = 4, size = 8, wide = SECTOR_WORDS * size + 8, most = 32;
  const rows = Math.ceil(Math.min(sectors.length, most) / perRow);
  const node = svg('svg', { class: 'strip sectors', width: perRow * wide, height: rows * (size + 5) + 2, role: 'img',
    'aria-label': `${sectors.length} sectors; words used in each: ${sectors.map(([, used]) => used.length).join(' ')}` });
  sectors.slice(0, most).forEach(([sector, used], i) => {
    const x = (i % perRow) * wide + 1, y = Math.floor(i / perRow) * (size + 5) + 1;
    for (let w = 0; w < SECTOR_WORDS; w++)
      node.append(svg('rect', { class: used.includes(sector * SECTOR_WORDS + w) ? 'used' : 'free',
                                x: x + w * size, y, width: size - 1, height: size }));
  });
  return node;
}

function updateStrips({ run, state }) {
  const accesses = run.steps[state.step]?.accesses || [];
  byId('strips').replaceChildren(...bySite(accesses).slice(0, 6).map(([site, list]) => {
    const { array, atomic, write } = site, figure = element('figure', 'strip-figure');
    const { picture, text } = array.role === 'shared' ? bankStrip(site, list) : sectorStrip(list);
    const what = atomic ? 'atomic update of' : write ? 'store to' : 'load of';
    figure.append(element('figcaption', '', `${what} ${array.name}: ${text}`), picture);
    return figure;
  }));
  if (!accesses.length) byId('strips').append(element('p', 'quiet', 'No access to memory in this step.'));
}

/* --- loads of inputs -------------------------------------------------------------------------- */

/* By this block, up to the state's step. */
const loadsSoFar = (state) => state.run.loadsOfInputs.filter((a) => isDone(state, a)).length;

function updateTotals({ run, state }) {
  const stored = run.outputs.flatMap((array) => [...array.accesses.values()])
    .filter((list) => isInside(list[0]) && list.some((a) => a.write)).length;
  const all = run.loadsOfInputs.length;
  const rows = [['this block, so far', loadsSoFar(state), 'so-far'], ['this block, in all', all, 'all']];
  const naive = run.naive * stored, same = `${plural(stored, 'element')} of ${namesText(run.outputs)}`;
  if (naive) rows.push([`naive kernel, same ${same}`, naive, 'naive']);
  const most = Math.max(1, ...rows.map(([, count]) => count));
  byId('totals').replaceChildren(...rows.map(([name, count, kind]) => {
    const row = element('div', 'total ' + kind);
    row.append(span('total-name', name), span('total-count', formatCount(count)),
               progressBar('total', Math.round(1000 * count / most) / 10));
    return row;
  }), ...launchRows(run));
}

/* So many per cent of it are full. */
function progressBar(kind, share) {
  const track = element('span', kind + '-track'), bar = element('span', kind + '-bar');
  bar.style.width = share + '%';
  track.append(bar);
  return track;
}

function launchRows(run) {
  const rows = [], { loads } = run;
  if (loads && !run.end.stopped) { /* of a run that went to its end */
    const ratio = loads.launch ? Number((loads.naive / loads.launch).toPrecision(3)) : 0;
    const times = !ratio ? '' : ratio === 1 ? ', as many' : `, ${ratio} times as many`;
    const naive = run.naive ? ` The naive kernel: ${formatCount(loads.naive)}${times}.` : '';
    const text = `All blocks: ${formatCount(loads.launch)} loads of ${namesText(run.inputs)}.${naive}`;
    rows.push(element('p', 'launch-loads', text));
  }
  if (run.left_out)
    rows.push(element('p', 'quiet', `${formatCount(run.left_out)} accesses of this block are not in this page; its totals are without them.`));
  return rows;
}

/* --- sums ------------------------------------------------------------------------------------- */

/* The products of a thread's elements of the output, and their sum so far: of two factors, as
 * run.sum has them.
 *
 * What is in registers is not recorded. But which elements a thread has read is, through shared
 * memory too: C[i][j] has a term for each p of which it has read both A[i][p] and B[p][j]. Their
 * sum in float32, in that order, is shown only if it comes to what the thread stores. */

const TERM = -1;

const rowAndCol = ({ array, offset }) => [Math.floor(offset / array.cols), offset % array.cols];

/* The loads of each factor's elements by the index that it shares with the output, and by term. */
function indexLoads({ factors }, loads) {
  const index = factors.map(() => new Map());
  for (const a of loads) {
    const number = factors.findIndex((factor) => factor.array === a.origin?.array.number);
    if (number < 0) continue;
    const { axes } = factors[number], at = rowAndCol(a.origin);
    const fixed = at[axes.findIndex((axis) => axis !== TERM)];
    if (!index[number].has(fixed)) index[number].set(fixed, new Map());
    addTo(index[number].get(fixed), at[axes.indexOf(TERM)], a);
  }
  return index;
}

/* Which load of one factor goes with which of the other, if there are several: those of one step,
 * or else the first ones, whose values are kept in registers. */
function pairsOf(lefts, rights) {
  const pairs = lefts.map((a) => [a, rights.find((b) => b.step === a.step)]).filter(([, b]) => b);
  return pairs.length || !rights.length ? pairs : [[lefts[0], rights[0]]];
}

function textbookTerms({ factors }, index, at) {
  const [lefts, rights] = factors.map(({ axes }, i) =>
    index[i].get(at[axes.find((axis) => axis !== TERM)]) || new Map());
  const pairs = [...lefts].flatMap(([p, loads]) => pairsOf(loads, rights.get(p) || []));
  return pairs.map(makeTerm).sort((x, y) => x.at - y.at);
}

/* A term is complete with the later of its loads. */
const makeTerm = ([a, b]) => ({ a, b, at: Math.max(a.number, b.number), step: Math.max(a.step, b.step) });

/* Any two values that the thread reads in one step: what a kernel with a wrong index multiplies. */
const termsAsRead = (operands) =>
  together(operands, (a) => a.step).filter(([, loads]) => loads.length === 2).map(([, pair]) => makeTerm(pair));

/* --- ways to add them up ---------------------------------------------------------------------- */

const round = Math.fround;
const ARITHMETIC = [
  (sum, { a, b }) => round(sum + round(a.value * b.value)),
  (sum, { a, b }) => round(sum + a.value * b.value),           /* fused: the product is not rounded */
  (sum, { a, b }) => sum + a.value * b.value,                  /* in double */
];

function addUp(terms, add) {
  let sum = 0;
  for (const term of terms) term.sum = sum = add(sum, term);
  return round(sum);
}

/* Whether the terms make what the store has left; an atomic operation adds them to what was there. */
const reproduces = (terms, { value, old, site }) => terms.length > 0 && ARITHMETIC.some((add) => {
  const sum = addUp(terms, add);
  return (site.atomic ? round(old + sum) : sum) === value;
});

/* --- the sums of a thread --------------------------------------------------------------------- */

/* Of each element of an output that the thread stores. */
function lastStores(run, thread) {
  const stores = new Map();
  for (const a of run.ofThread[thread])
    if (a.write && a.array.role === 'output') stores.set(a.array.number + ' ' + a.offset, a);
  return [...stores.values()];
}

function followSum(run, store, operands, index) {
  const [row, col] = rowAndCol(store), { thread, offset, step } = store;
  const sum = { thread, store, offset, row, col, step, terms: [], textbook: true, followed: false };
  const ways = [[true, textbookTerms(run.sum, index, [row, col])], [false, termsAsRead(operands)]];
  for (const [textbook, all] of ways) {
    const terms = all.filter(({ at }) => at < store.number);
    if (reproduces(terms, store)) return { ...sum, terms, textbook, followed: true };
  }
  return sum;
}

/* Made of the thread's operands, which are all its loads but those whose value only goes to shared
 * memory. */
function followSums(run, thread) {
  const accesses = run.ofThread[thread], copied = new Set(accesses.map((a) => a.from));
  const stores = lastStores(run, thread).filter(({ array }) => array === run.output);
  const operands = accesses.filter((a) => !a.write && !copied.has(a) && a.array.role !== 'output');
  const index = stores.length ? indexLoads(run.sum, operands) : [];
  return stores.map((store) => followSum(run, store, operands, index));
}

/* One for each element of the output that the thread stores; none where the lab has no sums. */
function sumsOf(run, thread) {
  run.sums ||= new Map();
  if (!run.sums.has(thread)) run.sums.set(thread, followSums(run, thread));
  return run.sums.get(thread);
}

/* How many of its terms are there after the state's step: they are in order of time. */
function termsDone(state, { thread, terms }) {
  const next = terms.findIndex(({ step }) => !isDone(state, { step, thread }));
  return next < 0 ? terms.length : next;
}

/* How many, and what they come to. */
function sumSoFar(state, sum) {
  const done = sum.followed ? termsDone(state, sum) : 0;
  return { done, value: done ? round(sum.terms[done - 1].sum) : 0 };
}

/* The sum for this element of the output, if it is followed. */
function sumForElement(run, offset) {
  const store = lastStoreOf({ array: run.output, offset });
  const sum = store && sumsOf(run, store.thread).find((each) => each.offset === offset);
  return sum?.followed ? sum : null;
}

function productsText(run, thread, offset) {
  const sum = sumsOf(run, thread).find((each) => each.offset === offset);
  if (!sum?.followed) return 'Its sum is not followed: what is in registers is not recorded.';
  const shown = sum.terms.slice(0, 3).map(termText), { length } = sum.terms;
  return `Sum of ${plural(length, 'product')}: ${shown.join(' + ')}${length > shown.length ? ', and so on.' : '.'}`;
}

const operandName = (a) => originName(a) || elementName(a);
const termText = ({ a, b }) => operandName(a) + '·' + operandName(b);
