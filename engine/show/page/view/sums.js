/* The products of a thread's elements of the output, and their sum so far: of two factors, as
 * run.sum has them.
 *
 * What is in registers is not recorded. But which elements a thread has read is, through shared
 * memory too: C[i][j] has a term for each p of which it has read both A[i][p] and B[p][j]. Their sum
 * in float32, in that order, is shown only if it comes to what the thread stores. */

function threadAccesses(run, thread) {
  if (!run.ofThread) {
    run.ofThread = Array.from({ length: run.threadCount }, () => []);
    for (let a = 0; a < run.accesses.count; a++) run.ofThread[run.accesses.thread[a]].push(a);
  }
  return run.ofThread[thread];
}

/* Loads for a product: all but those whose value only goes to shared memory. */
function operandsOf(run, thread) {
  const list = threadAccesses(run, thread);
  const copied = new Set(list.map((a) => run.accesses.from[a]));
  return list.filter((a) => !siteOf(run, a).write && !copied.has(a) && arrayOf(run, a).role !== 'output');
}

const TERM = -1;

/* The loads of each factor's elements by the index that it shares with the output, and by term. */
function indexLoads(run, loads) {
  const { originArray, originOffset } = run.accesses, { factors } = run.sum, index = factors.map(() => new Map());
  for (const a of loads) {
    const number = factors.findIndex((factor) => factor.array === originArray[a]);
    if (number < 0) continue;
    const { array, axes } = factors[number], { cols } = run.arrays[array];
    const at = [Math.floor(originOffset[a] / cols), originOffset[a] % cols];
    const p = at[axes.indexOf(TERM)], fixed = at[axes.findIndex((axis) => axis !== TERM)];
    if (!index[number].has(fixed)) index[number].set(fixed, new Map());
    addTo(index[number].get(fixed), p, a);
  }
  return index;
}

/* Of the thread's operands, and of all its loads. Made once: a thread may have many elements of the output. */
function loadsOfThread(run, thread) {
  run.loadsOfThread ||= new Map();
  if (!run.loadsOfThread.has(thread)) {
    const all = threadAccesses(run, thread).filter((a) => !siteOf(run, a).write);
    run.loadsOfThread.set(thread, [operandsOf(run, thread), all].map((loads) => indexLoads(run, loads)));
  }
  return run.loadsOfThread.get(thread);
}

/* Which load of one factor goes with which of the other, if there are several: those of one step; the n-th
 * with the n-th; or the first ones, whose values are kept in registers. */
const PAIRINGS = [
  (run, as, bs) => as.map((a) => [a, bs.find((b) => run.accesses.step[b] === run.accesses.step[a])]),
  (run, as, bs) => as.map((a, i) => [a, bs[i]]),
  (run, as, bs) => [[as[0], bs[0]]],
];

/* A term is complete with the later of its loads. */
function textbookTerms(run, index, row, col, pairing) {
  const shared = ({ axes }) => [row, col][axes.find((axis) => axis !== TERM)], { factors } = run.sum;
  const b = index[1].get(shared(factors[1])) || new Map(), terms = [];
  for (const [p, loads] of index[0].get(shared(factors[0])) || [])
    for (const [left, right] of pairing(run, loads, b.get(p) || []))
      if (right !== undefined) terms.push(makeTerm(run, left, right));
  return terms.sort((x, y) => x.at - y.at);
}

function makeTerm(run, a, b) {
  const { value, step } = run.accesses;
  return { a, b, at: Math.max(a, b), step: Math.max(step[a], step[b]), left: value[a], right: value[b] };
}

/* Any two values that the thread reads in one step: what a kernel with a wrong index multiplies. */
function termsAsRead(run, operands) {
  const bySteps = new Map();
  for (const a of operands) addTo(bySteps, run.accesses.step[a], a);
  const terms = [];
  for (const pair of bySteps.values()) if (pair.length === 2) terms.push(makeTerm(run, ...pair));
  return terms;
}

/* --- ways to add them up ---------------------------------------------------------------------- */

const round = Math.fround;
const ARITHMETIC = [
  (sum, t) => round(sum + round(t.left * t.right)),
  (sum, t) => round(sum + t.left * t.right),           /* fused: the product is not rounded */
];

function addUp(terms, add) {
  let sum = 0;
  for (const term of terms) term.sum = sum = add(sum, term);
  return sum;
}

/* A partial sum for each interval, added to the whole at its end. */
function addUpByInterval(run, terms, add) {
  let whole = 0, part = 0;
  terms.forEach((term, i) => {
    part = add(part, term);
    term.sum = round(whole + part);
    const next = terms[i + 1];
    if (next && run.steps[next.step].interval === run.steps[term.step].interval) return;
    whole = term.sum;
    part = 0;
  });
  return whole;
}

function addUpInDouble(terms) {
  let sum = 0;
  for (const term of terms) term.sum = sum += term.left * term.right;
  return round(sum);
}

/* Whether the terms make what the store has left; an atomic operation adds them to what was there. */
function reproduces(run, terms, store) {
  if (!terms.length) return false;
  const { value, old } = run.accesses, isAtomic = siteOf(run, store).atomic;
  const makes = (sum) => (isAtomic ? round(old[store] + round(sum)) : sum) === value[store];
  return ARITHMETIC.some((add) => makes(addUp(terms, add))) ||
    ARITHMETIC.some((add) => makes(addUpByInterval(run, terms, add))) || makes(addUpInDouble(terms));
}

/* --- the sums of a thread --------------------------------------------------------------------- */

/* Of each element of an output that the thread stores. */
function lastStores(run, thread) {
  const stores = new Map();
  for (const a of threadAccesses(run, thread)) {
    const site = siteOf(run, a);
    if (site.write && arrayOf(run, a).role === 'output') stores.set(site.array + ' ' + run.accesses.offset[a], a);
  }
  return [...stores.values()];
}

function followSum(run, thread, store) {
  const offset = run.accesses.offset[store], { cols } = run.arrays[run.output];
  const row = Math.floor(offset / cols), col = offset % cols;
  const sum = { thread, store, offset, row, col, stored: run.accesses.value[store], step: run.accesses.step[store],
                terms: [], followed: false, textbook: true };
  for (const index of loadsOfThread(run, thread))
    for (const pairing of PAIRINGS) {
      const terms = textbookTerms(run, index, row, col, pairing).filter((term) => term.at < store);
      if (reproduces(run, terms, store)) return { ...sum, terms, followed: true };
    }
  const terms = termsAsRead(run, operandsOf(run, thread).filter((a) => a < store));
  return reproduces(run, terms, store) ? { ...sum, terms, textbook: false, followed: true } : sum;
}

/* One for each element of the output that the thread stores; none where the lab has no sums. */
function sumsOf(run, thread) {
  run.sums ||= new Map();
  if (!run.sums.has(thread))
    run.sums.set(thread, lastStores(run, thread).filter((a) => siteOf(run, a).array === run.output).map((store) => followSum(run, thread, store)));
  return run.sums.get(thread);
}

/* How many of its terms are there after the state's step: they are in order of time. */
function termsDone(state, sum) {
  const last = hasRun(state, sum.thread) ? state.step : state.step - 1;
  let low = 0, high = sum.terms.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sum.terms[middle].step <= last) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* The sum for this element of the output, if it is followed. */
function sumForElement(run, offset) {
  const stores = (accessesOf(run, run.arrays[run.output]).get(offset) || []).filter((a) => siteOf(run, a).write);
  if (!stores.length) return null;
  const sum = sumsOf(run, run.accesses.thread[stores[stores.length - 1]]).find((s) => s.offset === offset);
  return sum && sum.followed ? sum : null;
}

function productsText(run, thread, offset) {
  const sum = sumsOf(run, thread).find((s) => s.offset === offset);
  if (!run.sum) return '';
  if (!sum || !sum.followed) return 'Its sum is not followed: what is in registers is not recorded.';
  const shown = sum.terms.slice(0, 3).map((t) => termText(run, t));
  const rest = sum.terms.length - shown.length;
  return 'Sum of ' + plural(sum.terms.length, 'product') + ': ' + shown.join(' + ') + (rest > 0 ? ', and so on.' : '.');
}

function operandName(run, a) {
  return originName(run, a) || elementName(arrayOf(run, a), run.accesses.offset[a]);
}

const termText = (run, term) => operandName(run, term.a) + '·' + operandName(run, term.b);
