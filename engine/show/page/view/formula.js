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
  if (index.length !== array.dims.length) return null;
  return index.reduce((offset, i, d) => offset * array.dims[d] + i, 0);
}

const putIn = (element, names) =>
  element.replace(/[A-Za-z_][\w.]*/g, (name) => (Object.hasOwn(names, name) ? String(names[name]) : name));

/* How often this thread has made the access before, in its interval; and the number of the interval
 * among those of the block in which the instruction runs. */
function countsBefore(run, access) {
  const { step, site, thread, offset } = run.accesses;
  const interval = run.steps[step[access]].interval;
  const words = run.sites[site[access]].words;
  const intervals = new Set();
  let turn = 0;
  for (let a = 0; a < access; a++) {
    if (site[a] !== site[access]) continue;
    const earlier = run.steps[step[a]].interval;
    if (earlier !== interval) intervals.add(earlier);
    else if (thread[a] === thread[access]) turn++;
  }
  return { phase: intervals.size, step: Math.floor(turn / words) };
}

function namesOfThread(run, thread, [bx, by, bz]) {
  const [x, y, z] = threadIndex(run, thread);
  return { ...run.shape, 'threadIdx.x': x, 'threadIdx.y': y, 'threadIdx.z': z,
           'blockIdx.x': bx, 'blockIdx.y': by, 'blockIdx.z': bz };
}

const formulasOf = (run, site) => run.indices.filter((entry) =>
  entry.element && entry.line === site.line && entry.array === run.arrays[site.array].name &&
  entry.access === (site.write ? 'write' : 'read'));

/* The formula of this access and its numbers: only one that gives the element that was accessed. */
function formulaAt(run, access) {
  const site = siteOf(run, access), array = run.arrays[site.array];
  const entries = formulasOf(run, site);
  if (!entries.length) return null;
  const names = { ...namesOfThread(run, run.accesses.thread[access], run.block), ...countsBefore(run, access) };
  for (const entry of entries)
    if (offsetOfFormula(array, entry.element, names) === run.accesses.offset[access])
      return { entry, names, withNumbers: putIn(entry.element.slice(entry.element.indexOf('[')), names) };
  return null;
}
