/* Names of elements and threads, ranges and numbers, as CUDA writes them. */

function formatNumber(value) {
  if (value === undefined || value === null) return '?';
  if (Number.isNaN(value)) return 'NaN';
  if (Number.isSafeInteger(value)) return String(value);
  return String(Number(value.toPrecision(7))); /* what is left of a float32 */
}

const baseName = (path) => path.slice(path.lastIndexOf('/') + 1);

/* "stores at /home/me/lab/kernel.cu:34" -> "stores at line 34" */
function withoutFile(run, text) {
  const name = baseName(run.file).replace(/[^\w]/g, '\\$&');
  return text.replace(new RegExp('\\bat (?:\\S*/)?' + name + ':(\\d+)', 'g'), 'at line $1');
}

/* With commas from five digits on. */
const formatCount = (count) => (count < 10000 ? String(count) : count.toLocaleString('en-US'));
const plural = (count, one, many = one + 's') => formatCount(count) + ' ' + (count === 1 ? one : many);

/* The number in at most so many characters, for a cell; '' if there is no room. */
function formatShort(value, characters) {
  if (value === undefined || characters < 1) return '';
  const full = formatNumber(value);
  if (full.length <= characters) return full;
  const size = Math.abs(value);
  if (size >= 1000 && size < 1e9) {
    const [unit, letter] = size >= 1e6 ? [1e6, 'M'] : [1e3, 'k'];
    const shorts = [(value / unit).toFixed(1) + letter, Math.round(value / unit) + letter];
    return shorts.find((short) => short.length <= characters) || '';
  }
  for (let digits = 3; digits > 0; digits--) {
    const short = String(Number(value.toPrecision(digits))).replace(/^(-?)0\./, '$1.');
    if (short.length <= characters) return short;
  }
  return '';
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
  const { array: { rows, cols, slices, beyond }, offset } = place;
  if (isBeyondColumn(place)) return { slice: 0, ...beyond };
  const slice = slices > 1 ? Math.floor(offset / (rows * cols)) : 0;
  const rest = offset - slice * rows * cols, row = Math.floor(rest / cols);
  return { slice, row, col: rest - row * cols };
}

/* And the other way round. */
const placeOf = (array, slice, row, col) => ({ array, offset: (slice * array.rows + row) * array.cols + col });

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

/* "3", "0..15", "0, 4, 8", "0, 16, ..., 240": numbers in ascending order; null: too many that follow
 * no rule. */
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

/* Of indices the numbers that occur in each dimension; and whether so many fill the whole rectangle. */
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
