/* Names of elements and threads, ranges and numbers, as CUDA writes them; a step in words, where
 * values came from, and what the checker found. */

function formatNumber(value) {
  if (value === undefined || value === null) return '?';
  if (Number.isNaN(value)) return 'NaN';
  if (Number.isSafeInteger(value)) return String(value);
  return String(Number(value.toPrecision(7))); /* what is left of a float32 */
}

const baseName = (path) => path.slice(path.lastIndexOf('/') + 1);

/* With commas from five digits on. */
const formatCount = (count) => (count < 10000 ? String(count) : count.toLocaleString('en-US'));
const plural = (count, one, many = one + 's') => formatCount(count) + ' ' + (count === 1 ? one : many);

const SHORT = [3, 2, 1].map((digits) =>
  new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: digits }));

/* The number in at most so many characters, for a cell: 117649 or 118K, .123; '' if there is no
 * room. */
function formatShort(value, characters) {
  if (value === undefined) return '';
  const full = formatNumber(value), shorten = (format) => format.format(value).replace(/^(-?)0\./, '$1.');
  if (full.length <= characters) return full;
  return SHORT.map(shorten).find((short) => short.length <= characters) || '';
}

function threadIndex(run, thread) {
  const [x, y] = run.launch.block;
  return [thread % x, Math.floor(thread / x) % y, Math.floor(thread / (x * y))];
}

const threadNumber = (run, [x, y, z]) => x + run.launch.block[0] * (y + run.launch.block[1] * z);

function threadName(run, thread) {
  const index = threadIndex(run, thread);
  return '(' + (run.launch.block[2] > 1 ? index : index.slice(0, 2)).join(',') + ')';
}

/* "(1,0)", with a third number where the grid has several in z. */
const blockName = (run) => '(' + (run.launch.grid[2] > 1 ? run.block : run.block.slice(0, 2)).join(',') + ')';

const isInside = ({ array, offset }) => offset >= 0 && offset < array.words;

/* Which cell of the drawing a place is. */
function cellOf(place) {
  const { array: { cols, beyond }, offset } = place, row = Math.floor(offset / cols);
  return isBeyondColumn(place) ? beyond : { row, col: offset - row * cols };
}

/* And the other way round. */
const placeOf = (array, row, col) => ({ array, offset: row * array.cols + col });

/* Behind the array, where the finding calls it a column too many of the last row. */
function isBeyondColumn(place) {
  const { array: { beyond, cols }, offset } = place;
  return Boolean(beyond) && !isInside(place) && offset === beyond.row * cols + beyond.col;
}

/* One number for each dimension; the first may be too large. */
function indexOf(place) {
  const { array: { dims, beyond }, offset } = place;
  if (isBeyondColumn(place)) return [beyond.row, beyond.col];
  const index = [];
  let rest = offset;
  for (const extent of dims.slice(1).reverse()) {
    index.unshift(rest % extent);
    rest = Math.floor(rest / extent);
  }
  return [rest, ...index];
}

/* And the other way round, where there is one for each dimension. */
const offsetOf = ({ dims }, index) => index.reduce((offset, i, d) => offset * dims[d] + i, 0);

const bracketed = (name, parts) => name + parts.map((part) => '[' + part + ']').join('');

function elementName(place) {
  const { array, offset } = place;
  const isFlat = !isInside(place) && !isBeyondColumn(place) && (array.role === 'shared' || offset < 0);
  return bracketed(array.name, isFlat ? [offset] : indexOf(place));
}

/* "3", "0..15", "0, 4, 8", "0, 16, ..., 240": numbers in ascending order; null: too many that
 * follow no rule. */
function listText(numbers) {
  const runs = [];
  for (const n of numbers) {
    const last = runs.at(-1);
    if (last && n === last[1] + 1) last[1] = n;
    else runs.push([n, n]);
  }
  if (runs.length <= 4)
    return runs.map(([a, b]) => (a === b ? String(a) : b === a + 1 ? a + ', ' + b : a + '..' + b)).join(', ');
  const apart = numbers[1] - numbers[0], last = numbers[numbers.length - 1];
  return numbers.every((n, i) => n === numbers[0] + i * apart) ? `${numbers[0]}, ${numbers[1]}, ..., ${last}` : null;
}

const rangeText = (numbers) => listText(numbers) || numbers[0] + '...' + numbers[numbers.length - 1];

/* From the first one up to, but not including, the end. */
const range = (first, end) => Array.from({ length: end - first }, (_, i) => first + i);

const ascending = (numbers) => [...new Set(numbers)].sort((a, b) => a - b);

const joinWords = (parts, word = 'and') => parts.length < 2 ? parts.join('') : parts.slice(0, -1).join(', ') + ` ${word} ` + parts[parts.length - 1];

/* "A and B", "A or B". */
const namesText = (arrays, word) => joinWords(arrays.map((array) => array.name), word);

const FEW_NAMES = 3;

/* "A[0..1][0..15]" where the elements fill such a rectangle, else how many elements of A. */
function elementsText(array, offsets) {
  const places = ascending(offsets).map((offset) => ({ array, offset })), [first] = places;
  const many = `${places.length} elements of ${array.name}`;
  if (places.length === 1) return elementName(first);
  if (array.dims.length === 1) {
    const list = listText(places.map(({ offset }) => offset));
    return list ? bracketed(array.name, [list]) : `${many}, from ${elementName(first)} on`;
  }
  const axes = axesOf(places.map(indexOf));
  if (first.offset >= 0 && isFilled(axes, places)) return bracketed(array.name, axes.map(rangeText));
  return places.length <= FEW_NAMES ? joinWords(places.map(elementName)) : many;
}

/* Of indices the numbers that occur in each dimension; and whether so many fill the whole
 * rectangle. */
const axesOf = (indices) => indices[0].map((_, d) => ascending(indices.map((index) => index[d])));
const isFilled = (axes, { length }) => axes.reduce((product, axis) => product * axis.length, 1) === length;

/* "threads (0..3,2)" where they are such a rectangle, else how many threads. */
function threadsText(run, threads) {
  const all = ascending(threads);
  if (all.length === 1) return 'thread ' + threadName(run, all[0]);
  if (all.length === run.threadCount) return `all ${all.length} threads`;
  const axes = axesOf(all.map((thread) => threadIndex(run, thread)));
  if (!isFilled(axes, all)) return all.length + ' threads';
  const shown = run.launch.block[2] > 1 ? axes : axes.slice(0, 2);
  return 'threads (' + shown.map(rangeText).join(',') + ')';
}

/* --- a step: what the line that acts does, and what the selected thread does in it ------------ */

function sentenceAt(state, thread) {
  const { run } = state, step = run.steps[state.step];
  if (!step) return beginSentence(run);
  if (step.warp < 0) return barrierSentence(run, step) + findingSentence(run, step);
  const words = [actingSentence(state, step), ownSentence(state, thread)].filter(Boolean).join(' ');
  return words + findingSentence(run, step) + (isWhole(state) ? endSentence(run, step) : '');
}

/* At the steps that the finding is about. */
function findingSentence({ finding }, { number }) {
  if (number === finding?.step) return ` Finding: ${finding.what}.`;
  return number === finding?.other_step ? ' Finding: the other access.' : '';
}

function beginSentence(run) {
  const block = run.launch.block.filter((n, i) => i < 2 || n > 1).join(' x ');
  return `Before the first step. Block ${blockName(run)} has ${block} threads, ` +
    `${plural(Math.ceil(run.threadCount / WARP), 'warp')}. Press the right arrow key for the first step.`;
}

function barrierSentence(run, { line, who, threads, number }) {
  const where = line ? `Line ${line}: ` : '';
  if (who)
    return `${where}threads are at different barriers: ${whoText(run, who)}. On a GPU, whatever follows is undefined.`;
  const arrived = threads === run.threadCount ? `All ${threads} threads have arrived and continue.`
    : `${threads} of the block's ${run.threadCount} threads have arrived and continue; the others have returned.`;
  return `${where}__syncthreads(). ${arrived}` + endSentence(run, { number });
}

function whoText(run, { waiting, returned }) {
  const parts = waiting.map(({ line, threads }) => threadsText(run, threads) + ' wait' + atLine(line));
  if (returned.length) parts.push(threadsText(run, returned) + ' returned');
  return parts.join('; ');
}

/* Why there are no more steps. */
function whyCut(run) {
  if (!run.left_out) return ', where the run was stopped';
  const many = (run.counted ? '' : 'more than ') + plural(run.left_out, 'later access', 'later accesses');
  const notShown = many + (run.left_out === 1 ? ' is' : ' are') + ' not shown';
  if (run.finding?.never_ends) return `; the kernel ran on until it was stopped, and ${notShown}`;
  return (run.as_run_from === null ? ' for lack of room: ' : ', at the mistake: ') + notShown;
}

/* Where the recording ends, if the block did more than is here. It is said beside all steps. */
function cutText(run) {
  if (!run.isCut || !run.steps.length) return '';
  const phase = run.phases.length ? `, in phase ${run.phases.length - 1}` : '';
  return `The recording stops at step ${run.last}${phase}${whyCut(run)}.`;
}

/* How the trace ends, after its last step. */
function endSentence(run, { number }) {
  if (number !== run.last || run.left_out) return '';
  const { waiting, stopped } = run.end, who = waiting.length ? whoText(run, run.end) : '';
  if (stopped) return ` Here the run was stopped${who ? ': ' + who : ' by the finding'}.`;
  return who ? ` At the end ${who}.` : ' The block is done.';
}

const verbOf = (site) => (site.atomic ? 'atomically update' : site.write ? 'store to' : 'load');
const verbsOf = (site) => (site.atomic ? 'atomically updates' : site.write ? 'stores to' : 'loads');
const verbedOf = (site) => (site.atomic ? 'atomically updated' : site.write ? 'stored' : 'loaded');

/* Accesses of a step, by site. */
function bySite(accesses) {
  const sites = new Map();
  for (const a of accesses) addTo(sites, a.site, a);
  return [...sites];
}

function actingSentence(state, step) {
  const { run } = state, threads = actingThreads(state), accesses = actingAccesses(state);
  const line = `${step.line ? `Line ${step.line}` : 'In another file'}, warp ${step.warp}: `;
  if (threads.length === 1) return `${line}${threadSentence(run, threads[0], accesses)}.`;
  const size = warpThreads(run, step.warp).length, who = (count) => (count === size ? 'all' : count + ' of');
  const parts = bySite(accesses).map(([site, list]) => ({
    count: new Set(list.map((a) => a.thread)).size,
    part: [verbOf(site), elementsText(site.array, list.map((a) => a.offset))],
  }));
  return line + together(parts, (each) => each.count).map(([count, group]) =>
    `${who(count)} ${size} threads ${joinVerbs(group.map(({ part }) => part))}`).join('; ') + '.';
}

/* Neighbors with the same key: [[key, [item, ...]], ...] */
function together(items, keyOf) {
  const groups = [];
  for (const item of items) {
    const key = keyOf(item);
    if (groups.at(-1)?.[0] !== key) groups.push([key, []]);
    groups.at(-1)[1].push(item);
  }
  return groups;
}

/* [verb, object], ...: a verb that repeats is said once. */
const joinVerbs = (parts) => joinWords(together(parts, ([verb]) => verb).map(([verb, group]) =>
  `${verb} ${joinWords(group.map(([, object]) => object))}`));

/* What the selected thread does, if it is one of several. */
function ownSentence(state, thread) {
  const own = actingAccesses(state).filter((a) => a.thread === thread);
  if (!own.length) return '';
  const text = threadSentence(state.run, thread, own), alone = actingThreads(state).length === 1;
  const sentence = alone ? '' : text[0].toUpperCase() + text.slice(1) + '.';
  return [sentence, sumPart(state, thread)].filter(Boolean).join(' ');
}

const MOST_PARTS = 4;

/* "thread (2,1) loads A[1][2] = 23 and stores it to A_s[1][2]" */
function threadSentence(run, thread, own) {
  const verb = (a) => (isCopyOf(a, own) ? 'stores it to' : verbsOf(a.site));
  const parts = own.slice(0, MOST_PARTS).map((a) => [verb(a), objectOf(a, own)]);
  const more = own.length > MOST_PARTS ? `, and ${own.length - MOST_PARTS} more` : '';
  return `thread ${threadName(run, thread)} ${joinVerbs(parts)}${more}`;
}

/* Whether this stores what was loaded just before. */
const isCopyOf = (a, own) => a.from && own[own.indexOf(a) - 1] === a.from;

function objectOf(a, own) {
  const outside = isInside(a) ? '' : ` (outside ${a.array.name})`;
  if (isCopyOf(a, own)) return elementName(a) + outside;
  const isSharedLoad = a.array.role === 'shared' && !a.write, isEmpty = isSharedLoad && !a.before;
  const parts = [elementName(a), isSharedLoad && originName(a), !isEmpty && valueText(a)];
  return parts.filter(Boolean).join(' = ') + outside + (isEmpty ? ' (not stored yet)' : '');
}

/* "3", of an atomic operation "3 → 5". */
const valueText = ({ site, value, old }) =>
  (site.atomic ? formatNumber(old) + ' → ' : '') + formatNumber(value);

function sumPart(state, thread) {
  for (const sum of sumsOf(state.run, thread)) {
    const { done, value } = sumSoFar(state, sum);
    if (done && sum.terms[done - 1].step === state.step)
      return `Its sum for ${elementName(sum.store)} is now ${formatNumber(value)}.`;
  }
  return '';
}

/* --- where a value came from, and who reads it ------------------------------------------------ */

const atLine = (line) => (line ? ' at line ' + line : ' in another file');

/* The chain of stores and loads that brought the value of this store, the first one first. */
function chainOf(store) {
  const chain = [store], earlier = ({ write, from, before }) => (write ? from : before);
  while (earlier(chain[0]) && chain.length <= 8) chain.unshift(earlier(chain[0]));
  return chain;
}

const originName = ({ origin }) => origin && elementName(origin);

/* "A[2][5] → A_s[2][1], stored by thread (1,2) at line 18" */
function chainText(run, store) {
  const chain = chainOf(store), first = chain[0].write ? [] : [elementName(chain[0])];
  const stores = chain.filter((a) => a.write).map((a) =>
    `${elementName(a)}, ${verbedOf(a.site)} by thread ${threadName(run, a.thread)}${atLine(a.site.line)}` +
    (a.site.atomic ? ': ' + valueText(a) : ''));
  return [...first, ...stores].join(' → ') + sourceText(chain);
}

/* Of a chain's beginning what the names of elements do not say. */
function sourceText([{ write, step, site, array, value }, next]) {
  if (!write) return step === next.step ? '' : ` (which loaded that value${atLine(site.line)})`;
  if (array.role === 'output' || site.atomic) return '';
  return value === 0 ? ': a zero that is not loaded from memory' : ': a value from a register';
}

/* Loads of the place between the store and the next one, or (null) before the first one. */
const readersOf = ({ array, offset }, store) =>
  (array.accesses.get(offset) || []).filter((a) => !a.write && a.before === store);

function readersText(run, readers) {
  const byLine = new Map();
  for (const a of readers) addTo(byLine, a.site.line, a.thread);
  return [...byLine].map(([line, threads]) => {
    const times = threads.length / new Set(threads).size;
    return threadsText(run, threads) + atLine(line) + (times > 1 ? `, ${Math.round(times)} times each` : '');
  }).join('; ');
}

/* What is known about a place at the present step, in lines of text. */
function describePlace(state, place) {
  const { run } = state, { array: { name, role } } = place;
  const store = storeAt(state, place), value = valueAt(state, place), element = elementName(place);
  const lines = [];
  if (!isInside(place)) lines.push(`${element} is outside ${name}.`);
  else if (value !== undefined) lines.push(`${element} = ${formatNumber(value)}`);
  else if (role === 'input') lines.push(element + ': its value is not in this page; the block does not load it.');
  else if (role === 'shared') lines.push(element + ': no thread of this block has stored it yet.');
  else lines.push(element);
  if (store) lines.push(`${chainText(run, store)}, step ${store.step}.`);
  if (role === 'output') lines.push(...describeOutput(state, place));
  lines.push(describeReaders(run, place, store));
  return lines.filter(Boolean);
}

function describeReaders(run, place, store) {
  const readers = readersOf(place, store), { role } = place.array;
  if (!readers.length && role === 'output') return '';
  if (!readers.length) return `No thread of this block reads ${role === 'shared' ? 'this value' : 'it'}.`;
  const reads = new Set(readers), copies = [...new Set(run.accesses.filter((a) => reads.has(a.from)).map(elementName))];
  const more = copies.length > 3 ? ` and ${copies.length - 3} more` : '';
  const goes = copies.length ? `Goes to ${copies.slice(0, 3).join(', ')}${more}. ` : '';
  return `${goes}Read by ${readersText(run, readers)}.`;
}

function describeOutput(state, place) {
  const { run } = state, { array, offset } = place;
  if (array.unwrittenSet.has(offset)) return ['No thread of any block stores it.', whoShouldStore(run, place)];
  const store = lastStoreOf(place), lines = [];
  if (!store && isInside(place)) lines.push('This block does not store it in what was recorded.');
  if (store && !storeAt(state, place)) /* it is still to come */
    lines.push(`Thread ${threadName(run, store.thread)} ${store.site.atomic ? 'atomically updates' : 'stores'} it` +
      `${atLine(store.site.line)}, step ${store.step}.`);
  if (store && array === run.output) lines.push(productsText(run, store.thread, offset));
  if (array.wrongMap.has(offset)) lines.push(`Wrong: it should be ${formatNumber(array.wrongMap.get(offset))}.`);
  return lines;
}

/* undefined: the block does not store there. */
const lastStoreOf = ({ array, offset }) => array.accesses.get(offset)?.filter((a) => a.write).at(-1);

/* Which thread's index, by the formula of the line that stores to the array, is this element. Tried
 * for the blocks of the grid and for those beside it. With very long rows instead of the parameter
 * that says how long they are, a column beyond the last one is not mistaken for the next row. */
const MOST_TRIED = 400000;
const LONG_ROW = 1000003;

function whoShouldStore(run, place) {
  const { array } = place, [gx, gy] = run.launch.grid;
  const entry = run.indices.find((e) => e.array === array.name && e.access === 'write' && e.element);
  if (!entry || /\b(phase|step)\b/.test(entry.element)) return '';
  const isFlat = array.dims.length === 1, long = isFlat ? {} : { [array.params.at(-1)]: LONG_ROW };
  const formula = bracketsOf(entry.element)[0], { row, col } = cellOf(place);
  if (!isFlat && !tokenize(formula).some((token) => Object.hasOwn(long, token))) return '';
  const wanted = isFlat ? place.offset : row * LONG_ROW + col;
  if ((gx + 1) * (gy + 1) * run.threadCount > MOST_TRIED) return '';
  for (let by = 0; by <= gy; by++)
    for (let bx = 0; bx <= gx; bx++)
      for (let t = 0; t < run.threadCount; t++)
        if (evaluate(formula, { ...namesOfThread(run, t, [bx, by, run.block[2]]), ...long }) === wanted)
          return `By the index in line ${entry.line}, ${elementName(place)} belongs to ` +
            `thread ${threadName(run, t)} of block (${bx},${by})` +
            (bx < gx && by < gy ? ', which does not store it.' : `, but the grid has only ${gx} x ${gy} blocks.`);
  return '';
}

/* --- what the checker found, in its words, with the steps and lines that it is about ---------- */

function makeFinding(app) {
  const { run } = app, { finding } = run, { cause } = finding || {};
  byId('finding').hidden = !finding;
  if (!finding) return;
  const paragraphs = (detail) => detail.map((text) => element('p', '', text));
  const details = byId('finding-details'), symptom = byId('finding-symptom');
  byId('finding-title').textContent = headline(cause || finding);
  if (cause) {
    details.append(...paragraphs(cause.detail));
    symptom.append(element('p', 'symptom', 'symptom: ' + headline(finding)));
  }
  (cause ? symptom : details).append(...paragraphs(finding.detail));
  const hint = cause?.hint || finding.hint;
  byId('finding-hint').textContent = hint ? 'Hint: ' + hint : '';
  byId('finding-moves').append(...findingButtons(app));
  details.append(...notesOnEnd(run));
}

const headline = ({ line, what }) => (line ? `line ${line}: ` : '') + what;

function findingButtons(app) {
  const { run } = app, { finding } = run;
  const parties = [[finding.other_step, finding.other, 'other'], [finding.step, finding, 'this']];
  return parties.filter(([step]) => step !== null).map(([step, { thread, access, line }, kind]) => {
    const number = thread && threadNumber(run, thread);
    const who = thread ? 'thread ' + threadName(run, number) : 'the step';
    const does = { write: ' stores', read: ' loads' }[access] || '';
    const button = element('button', 'party-button ' + kind, `${who}${does}${atLine(line)}: step ${step}`);
    button.type = 'button';
    button.addEventListener('click', () => {
      if (thread) app.selection.thread = number;
      goTo(app, { step });
    });
    return button;
  });
}

/* What the end of the trace shows: who waits where, what nobody stored. */
function notesOnEnd(run) {
  const notes = run.end.waiting.length ? [`When the run stopped: ${whoText(run, run.end)}.`] : [];
  for (const array of run.outputs) {
    const missing = [...array.unwrittenSet], [offset] = missing;
    if (missing.length) notes.push(`No thread of any block stores ${elementsText(array, missing)} (hatched). ` +
      whoShouldStore(run, { array, offset }));
  }
  return notes.map((text) => element('p', '', text));
}

/* Of the outputs the first place that nobody has stored to, or whose value is wrong; null: all are
 * correct. Both are kept in ascending order. */
function firstAmiss(run) {
  for (const array of run.outputs)
    for (const offsets of [array.unwrittenSet, array.wrongMap])
      for (const offset of offsets.keys()) return { array, offset };
  return null;
}

/* The thread that is shown at first: the finding's, if it has one, or that which stores what is
 * wrong. */
function firstThread(run) {
  const { finding } = run;
  if (finding?.thread) return threadNumber(run, finding.thread);
  const { array, offset } = finding && firstAmiss(run) || {};
  return array?.accesses.get(offset)?.at(-1).thread ?? 0;
}
