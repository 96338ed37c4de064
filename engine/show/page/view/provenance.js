/* Where a value came from, and who reads it. */

/* All accesses of an array by element, made when they are first asked for. */
function accessesOf(run, array) {
  if (array.accesses) return array.accesses;
  array.accesses = new Map();
  for (let a = 0; a < run.accesses.count; a++)
    if (siteOf(run, a).array === array.number) addTo(array.accesses, run.accesses.offset[a], a);
  return array.accesses;
}

const atLine = (line) => (line ? ' at line ' + line : ' in another file');

/* The chain of stores and loads that brought the value of this store, the first one first. */
function chainOf(run, store) {
  const chain = [store];
  for (let at = store; ;) {
    const isStore = siteOf(run, at).write;
    const earlier = isStore ? run.accesses.from[at] : run.accesses.before[at];
    if (earlier === NONE || chain.length > 8) return chain;
    chain.unshift(earlier);
    at = earlier;
  }
}

const originName = (run, a) =>
  run.accesses.originArray[a] === NONE ? null
    : elementName(run.arrays[run.accesses.originArray[a]], run.accesses.originOffset[a]);

/* "A[2][5] -> A_s[2][1], stored by thread (1,2) at line 18" */
function chainText(run, store) {
  const chain = chainOf(run, store);
  const first = siteOf(run, chain[0]);
  const parts = [];
  if (!first.write) parts.push(elementName(run.arrays[first.array], run.accesses.offset[chain[0]]));
  for (const a of chain) {
    const site = siteOf(run, a);
    if (site.write)
      parts.push(`${elementName(run.arrays[site.array], run.accesses.offset[a])}, ${verbedOf(site)} by thread ` +
                 threadName(run, run.accesses.thread[a]) + atLine(site.line) + (site.atomic ? ': ' + valueText(run, a) : ''));
  }
  return parts.join(' → ') + unknownSource(run, chain);
}

function unknownSource(run, chain) {
  const store = chain[0];
  if (!siteOf(run, store).write) {
    const same = run.accesses.step[chain[0]] === run.accesses.step[chain[1]];
    return same ? '' : ' (which loaded that value' + atLine(siteOf(run, chain[0]).line) + ')';
  }
  if (arrayOf(run, store).role === 'output' || siteOf(run, store).atomic) return '';
  return run.accesses.value[store] === 0 ? ': a zero that is not loaded from memory'
    : ': a value from a register';
}

/* Loads of the element between the store and the next one, or before the first one. */
function readersOf(run, array, offset, store) {
  const all = accessesOf(run, array).get(offset) || [];
  return all.filter((a) => !siteOf(run, a).write && run.accesses.before[a] === (store ?? NONE));
}

function readersText(run, readers) {
  const byLine = new Map();
  for (const a of readers) addTo(byLine, siteOf(run, a).line, a);
  return [...byLine].map(([line, list]) => {
    const threads = list.map((a) => run.accesses.thread[a]);
    const times = list.length / new Set(threads).size;
    return threadsText(run, threads) + atLine(line) + (times > 1 ? ', ' + Math.round(times) + ' times each' : '');
  }).join('; ');
}

/* Stores that the loads of this element feed: where its value goes. */
function copiesText(run, readers) {
  const copies = new Set();
  const reads = new Set(readers);
  for (let a = 0; a < run.accesses.count; a++)
    if (reads.has(run.accesses.from[a])) copies.add(elementName(arrayOf(run, a), run.accesses.offset[a]));
  const list = [...copies];
  return list.length ? list.slice(0, 3).join(', ') + (list.length > 3 ? ' and ' + (list.length - 3) + ' more' : '') : '';
}

/* What is known about a cell at the present step, in lines of text. */
function describeCell(state, array, offset) {
  const { run } = state;
  const store = state.writer[array.number].get(offset);
  const value = valueAt(state, array, offset);
  const name = elementName(array, offset);
  const lines = [];
  if (!isInside(array, offset)) lines.push(name + ' is outside ' + array.name + '.');
  else if (value !== undefined) lines.push(name + ' = ' + formatNumber(value));
  else if (array.role === 'input') lines.push(name + ': its value is not in this page; the block does not load it.');
  else if (array.role === 'shared') lines.push(name + ': no thread of this block has stored it yet.');
  else lines.push(name);
  if (store !== undefined) lines.push(chainText(run, store) + ', step ' + run.accesses.step[store] + '.');
  if (array.role === 'output') lines.push(...describeOutput(state, array, offset));
  lines.push(describeReaders(run, array, offset, store));
  return lines.filter(Boolean);
}

function describeReaders(run, array, offset, store) {
  const readers = readersOf(run, array, offset, store);
  if (!readers.length)
    return array.role === 'output' ? '' : 'No thread of this block reads ' + (array.role === 'shared' ? 'this value.' : 'it.');
  const copies = copiesText(run, readers);
  return (copies ? 'Goes to ' + copies + '. ' : '') + 'Read by ' + readersText(run, readers) + '.';
}

function describeOutput(state, array, offset) {
  const { run } = state;
  if (array.unwrittenSet.has(offset)) return ['No thread of any block stores it.', whoShouldStore(run, array, offset)];
  const store = (accessesOf(run, array).get(offset) || []).filter((a) => siteOf(run, a).write).pop();
  const lines = [];
  if (store === undefined && isInside(array, offset)) lines.push('This block does not store it in what was recorded.');
  if (store !== undefined) lines.push(...describeStore(state, array, store));
  if (store !== undefined && array.number === run.output) lines.push(productsText(run, run.accesses.thread[store], offset));
  if (array.wrongMap.has(offset)) lines.push('Wrong: it should be ' + formatNumber(array.wrongMap.get(offset)) + '.');
  return lines;
}

/* Before it happens. */
function describeStore(state, array, store) {
  const { run } = state, { thread, step, offset } = run.accesses, site = siteOf(run, store);
  if (state.writer[array.number].has(offset[store])) return [];
  return [`Thread ${threadName(run, thread[store])} ${site.atomic ? 'atomically updates' : 'stores'} it${atLine(site.line)}, step ${step[store]}.`];
}

/* Which thread's index, by the formula of the line that stores to the array, is this element. Tried for
 * the blocks of the grid and for those beside it. With very long rows instead of the parameter that says
 * how long they are, a column beyond the last one is not mistaken for the next row. */
const MOST_TRIED = 400000;
const LONG_ROW = 1000003;

function whoShouldStore(run, array, offset) {
  const entry = run.indices.find((e) => e.array === array.name && e.access === 'write' && e.element);
  if (!entry || /\b(phase|step)\b/.test(entry.element)) return '';
  const isFlat = array.dims.length === 1, long = isFlat ? {} : { [array.params[array.params.length - 1]]: LONG_ROW };
  const formula = bracketsOf(entry.element)[0], { row, col } = cellOf(array, offset);
  if (!isFlat && !tokenize(formula)?.some((token) => Object.hasOwn(long, token))) return '';
  const wanted = isFlat ? offset : row * LONG_ROW + col;
  const [gx, gy] = run.launch.grid;
  if ((gx + 1) * (gy + 1) * run.threadCount > MOST_TRIED) return '';
  for (let by = 0; by <= gy; by++)
    for (let bx = 0; bx <= gx; bx++)
      for (let t = 0; t < run.threadCount; t++)
        if (evaluate(formula, { ...namesOfThread(run, t, [bx, by, run.block[2]]), ...long }) === wanted)
          return shouldText(run, entry, elementName(array, offset), t, bx, by);
  return '';
}

function shouldText(run, entry, name, thread, bx, by) {
  const [gx, gy] = run.launch.grid;
  const who = `By the index in line ${entry.line}, ${name} belongs to thread ${threadName(run, thread)} of block (${bx},${by})`;
  if (bx < gx && by < gy) return who + ', which does not store it.';
  return `${who}, but the grid has only ${gx} x ${gy} blocks.`;
}
