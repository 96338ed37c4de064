/* Where a value came from, and who reads it. */

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
  return [...first, ...stores].join(' → ') + unknownSource(chain);
}

function unknownSource([first, next]) {
  if (!first.write)
    return first.step === next.step ? '' : ` (which loaded that value${atLine(first.site.line)})`;
  if (first.array.role === 'output' || first.site.atomic) return '';
  return first.value === 0 ? ': a zero that is not loaded from memory' : ': a value from a register';
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

/* Stores that these loads feed: where the value goes. */
function copiesText(run, readers) {
  const reads = new Set(readers);
  const list = [...new Set(run.accesses.filter((a) => reads.has(a.from)).map(elementName))];
  return list.slice(0, 3).join(', ') + (list.length > 3 ? ` and ${list.length - 3} more` : '');
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
  const copies = copiesText(run, readers);
  return (copies && `Goes to ${copies}. `) + `Read by ${readersText(run, readers)}.`;
}

function describeOutput(state, place) {
  const { run } = state, { array, offset } = place;
  if (array.unwrittenSet.has(offset)) return ['No thread of any block stores it.', whoShouldStore(run, place)];
  const store = lastStoreOf(place), lines = [];
  if (!store && isInside(place)) lines.push('This block does not store it in what was recorded.');
  if (store && !storeAt(state, place)) lines.push(describeStore(run, store));
  if (store && array === run.output) lines.push(productsText(run, store.thread, offset));
  if (array.wrongMap.has(offset)) lines.push(`Wrong: it should be ${formatNumber(array.wrongMap.get(offset))}.`);
  return lines;
}

/* undefined: the block does not store there. */
const lastStoreOf = ({ array, offset }) => array.accesses.get(offset)?.filter((a) => a.write).at(-1);

/* Before it happens. */
const describeStore = (run, store) => `Thread ${threadName(run, store.thread)} ` +
  `${store.site.atomic ? 'atomically updates' : 'stores'} it${atLine(store.site.line)}, step ${store.step}.`;

/* Which thread's index, by the formula of the line that stores to the array, is this element. Tried for
 * the blocks of the grid and for those beside it. With very long rows instead of the parameter that says
 * how long they are, a column beyond the last one is not mistaken for the next row. */
const MOST_TRIED = 400000;
const LONG_ROW = 1000003;

function whoShouldStore(run, place) {
  const { array } = place, [gx, gy] = run.launch.grid;
  const entry = run.indices.find((e) => e.array === array.name && e.access === 'write' && e.element);
  if (!entry || /\b(phase|step)\b/.test(entry.element)) return '';
  const isFlat = array.dims.length === 1, long = isFlat ? {} : { [array.params.at(-1)]: LONG_ROW };
  const formula = bracketsOf(entry.element)[0], { row, col } = cellOf(place);
  if (!isFlat && !tokenize(formula)?.some((token) => Object.hasOwn(long, token))) return '';
  const wanted = isFlat ? place.offset : row * LONG_ROW + col;
  if ((gx + 1) * (gy + 1) * run.threadCount > MOST_TRIED) return '';
  for (let by = 0; by <= gy; by++)
    for (let bx = 0; bx <= gx; bx++)
      for (let t = 0; t < run.threadCount; t++)
        if (evaluate(formula, { ...namesOfThread(run, t, [bx, by, run.block[2]]), ...long }) === wanted)
          return shouldText(run, entry, place, t, bx, by);
  return '';
}

function shouldText(run, { line }, place, thread, bx, by) {
  const [gx, gy] = run.launch.grid;
  const who = `By the index in line ${line}, ${elementName(place)} belongs to thread ${threadName(run, thread)} of block (${bx},${by})`;
  if (bx < gx && by < gy) return who + ', which does not store it.';
  return `${who}, but the grid has only ${gx} x ${gy} blocks.`;
}
