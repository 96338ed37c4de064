/* The products of a thread's elements of C, and their sum so far.
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

/* p -> loads of A[row][p], or of B[p][col]. */
function loadsByTerm(run, operands, array, fixed) {
  const { k, n } = run.shape;
  const loads = new Map();
  for (const a of operands) {
    if (run.accesses.originArray[a] !== array) continue;
    const offset = run.accesses.originOffset[a], cols = array === A ? k : n;
    const row = Math.floor(offset / cols), col = offset % cols;
    if ((array === A ? row : col) !== fixed) continue;
    const p = array === A ? col : row;
    if (!loads.has(p)) loads.set(p, []);
    loads.get(p).push(a);
  }
  return loads;
}

/* The n-th load of A[i][p] goes with the n-th of B[p][j]; a term is complete with the later one. */
function textbookTerms(run, operands, row, col) {
  const a = loadsByTerm(run, operands, A, row), b = loadsByTerm(run, operands, B, col);
  const terms = [];
  for (const [p, loads] of a) {
    const others = b.get(p) || [];
    for (let i = 0; i < Math.min(loads.length, others.length); i++)
      terms.push(makeTerm(run, loads[i], others[i], p));
  }
  return terms.sort((x, y) => x.at - y.at);
}

function makeTerm(run, a, b, p) {
  const { value, step } = run.accesses;
  return { p, a, b, at: Math.max(a, b), step: Math.max(step[a], step[b]), left: value[a], right: value[b] };
}

/* Any two values that the thread reads in one step: what a kernel with a wrong index multiplies. */
function termsAsRead(run, operands) {
  const bySteps = new Map();
  for (const a of operands) {
    const step = run.accesses.step[a];
    if (!bySteps.has(step)) bySteps.set(step, []);
    bySteps.get(step).push(a);
  }
  const terms = [];
  for (const pair of bySteps.values()) if (pair.length === 2) terms.push(makeTerm(run, pair[0], pair[1], NONE));
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

function reproduces(run, terms, stored) {
  if (!terms.length) return false;
  return ARITHMETIC.some((add) => addUp(terms, add) === stored) ||
    ARITHMETIC.some((add) => addUpByInterval(run, terms, add) === stored) || addUpInDouble(terms) === stored;
}

/* --- the sums of a thread --------------------------------------------------------------------- */

function lastStores(run, thread) {
  const stores = new Map();
  for (const a of threadAccesses(run, thread)) {
    const site = siteOf(run, a);
    if (site.array === C && site.write) stores.set(run.accesses.offset[a], a);
  }
  return [...stores.values()];
}

function followSum(run, thread, store) {
  const offset = run.accesses.offset[store], cols = run.shape.n;
  const row = Math.floor(offset / cols), col = offset % cols;
  const sum = { thread, store, offset, row, col, stored: run.accesses.value[store], step: run.accesses.step[store],
                terms: [], followed: false, textbook: true };
  if (siteOf(run, store).atomic) return sum;
  const operands = operandsOf(run, thread).filter((a) => a < store);
  const all = threadAccesses(run, thread).filter((a) => a < store && !siteOf(run, a).write);
  const tries = [[true, textbookTerms(run, operands, row, col)], [true, textbookTerms(run, all, row, col)],
                 [false, termsAsRead(run, operands)]];
  for (const [textbook, terms] of tries) {
    if (!reproduces(run, terms, sum.stored)) continue;
    return { ...sum, terms, textbook, followed: true };
  }
  return sum;
}

/* One for each element of C that the thread stores. */
function sumsOf(run, thread) {
  run.sums ||= new Map();
  if (!run.sums.has(thread)) run.sums.set(thread, lastStores(run, thread).map((store) => followSum(run, thread, store)));
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

/* The sum for this element of C, if it is followed. */
function sumForElement(run, offset) {
  const stores = (accessesOf(run, run.arrays[C]).get(offset) || []).filter((a) => siteOf(run, a).write);
  if (!stores.length) return null;
  const sum = sumsOf(run, run.accesses.thread[stores[stores.length - 1]]).find((s) => s.offset === offset);
  return sum && sum.followed ? sum : null;
}

const hasRun = (state, thread) => state.lane === NONE || thread % WARP <= state.lane;

function productsText(run, thread, offset) {
  const sum = sumsOf(run, thread).find((s) => s.offset === offset);
  if (!sum || !sum.followed) return 'Its sum is not followed: what is in registers is not recorded.';
  const shown = sum.terms.slice(0, 3).map((t) => termText(run, t));
  const rest = sum.terms.length - shown.length;
  return 'Sum of ' + plural(sum.terms.length, 'product') + ': ' + shown.join(' + ') + (rest > 0 ? ' + ...' : '') + '.';
}

function operandName(run, a) {
  return originName(run, a) || elementName(arrayOf(run, a), run.accesses.offset[a]);
}

const termText = (run, term) => operandName(run, term.a) + '·' + operandName(run, term.b);
