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
  return pairs.map((pair) => makeTerm(...pair)).sort((x, y) => x.at - y.at);
}

/* A term is complete with the later of its loads. */
const makeTerm = (a, b) => ({ a, b, at: Math.max(a.number, b.number), step: Math.max(a.step, b.step) });

/* Any two values that the thread reads in one step: what a kernel with a wrong index multiplies. */
function termsAsRead(operands) {
  const bySteps = new Map();
  for (const a of operands) addTo(bySteps, a.step, a);
  return [...bySteps.values()].filter((loads) => loads.length === 2).map((pair) => makeTerm(...pair));
}

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
