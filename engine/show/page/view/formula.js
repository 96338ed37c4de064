/* What an index computes: formulas such as A[(blockIdx.y * 16 + threadIdx.y) * k + 16 * phase +
 * threadIdx.x], evaluated with a thread's numbers. A content security policy that allows no eval
 * is a reason for the small parser; another is that only sums, products and the like are expected. */

const TOKEN = /\s*(?:(\d+)|([A-Za-z_][\w.]*)|([-+*/%()]))/y;

function tokenize(text) {
  const tokens = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const match = TOKEN.exec(text);
    if (!match) return null;
    tokens.push(match[1] !== undefined ? Number(match[1]) : match[2] || match[3]);
  }
  return tokens;
}

/* The value of the text, where `names` has the values of its variables; null: it cannot be said. */
function evaluate(text, names) {
  const tokens = tokenize(text);
  if (!tokens) return null;
  let at = 0;
  function factor() {
    const token = tokens[at++];
    if (typeof token === 'number') return token;
    if (token === '-') return -factor();
    if (token === '(') {
      const value = sum();
      return tokens[at++] === ')' ? value : NaN;
    }
    return Object.hasOwn(names, token) ? names[token] : NaN;
  }
  function product() {
    let value = factor();
    while (tokens[at] === '*' || tokens[at] === '/' || tokens[at] === '%') {
      const operator = tokens[at++], right = factor();
      value = operator === '*' ? value * right : operator === '/' ? Math.trunc(value / right) : value % right;
    }
    return value;
  }
  function sum() {
    let value = product();
    while (tokens[at] === '+' || tokens[at] === '-') value = tokens[at++] === '+' ? value + product() : value - product();
    return value;
  }
  const value = sum();
  return at === tokens.length && Number.isFinite(value) ? value : null;
}

/* "A[...][...]" -> what is between the brackets of each index. */
function bracketsOf(element) {
  const parts = [];
  let depth = 0, begin = 0;
  for (let i = element.indexOf('['); i >= 0 && i < element.length; i++) {
    if (element[i] === '[' && depth++ === 0) begin = i + 1;
    if (element[i] === ']' && --depth === 0) parts.push(element.slice(begin, i));
  }
  return parts;
}

function offsetOfFormula(array, element, names) {
  const index = bracketsOf(element).map((text) => evaluate(text, names));
  if (!index.length || index.includes(null)) return null;
  if (index.length === 1) return index[0];
  return index.length === array.dims.length ? offsetOf(array, index) : null;
}

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
  return { names, entry: entries.find(({ element }) => offsetOfFormula(a.array, element, names) === a.offset) };
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
  row.append(element('code', 'formula', formula), ...[...values].map((text) => element('code', 'numbers', '= ' + text)),
             ...notes.filter(Boolean).map((text) => element('p', 'quiet', text)));
  return row;
}
