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

const threadNumber = (run, [x, y, z]) => x + run.launch.block[0] * (y + run.launch.block[1] * (z || 0));

function threadName(run, thread) {
  const index = threadIndex(run, thread);
  return '(' + (run.launch.block[2] > 1 ? index : index.slice(0, 2)).join(',') + ')';
}

/* "(1,0)", with a third number where the grid has several in z. */
const blockName = (run) => '(' + (run.launch.grid[2] > 1 ? run.block : run.block.slice(0, 2)).join(',') + ')';

const isInside = (array, offset) => offset >= 0 && offset < array.words;

/* Which cell of the drawing an element is. */
function cellOf(array, offset) {
  if (isBeyondColumn(array, offset)) return { slice: 0, ...array.beyond };
  const inSlice = array.rows * array.cols;
  const slice = array.slices > 1 ? Math.floor(offset / inSlice) : 0;
  const rest = offset - slice * inSlice;
  const row = Math.floor(rest / array.cols);
  return { slice, row, col: rest - row * array.cols };
}

/* Behind the array, where the finding calls it a column too many of the last row. */
const isBeyondColumn = (array, offset) =>
  Boolean(array.beyond) && !isInside(array, offset) && offset === array.beyond.row * array.cols + array.beyond.col;

const offsetOf = (array, slice, row, col) => (slice * array.rows + row) * array.cols + col;

/* One number for each dimension; the first may be too large. */
function indexOf(array, offset) {
  if (isBeyondColumn(array, offset)) return [array.beyond.row, array.beyond.col];
  const index = [];
  let rest = offset;
  for (let d = array.dims.length - 1; d > 0; d--) {
    index.unshift(rest % array.dims[d]);
    rest = Math.floor(rest / array.dims[d]);
  }
  return [rest, ...index];
}

const bracketed = (name, parts) => name + parts.map((part) => '[' + part + ']').join('');

function elementName(array, offset) {
  const isFlat = !isInside(array, offset) && !isBeyondColumn(array, offset) && (array.role === 'shared' || offset < 0);
  return bracketed(array.name, isFlat ? [offset] : indexOf(array, offset));
}

/* "3", "0..15", "0, 4, 8", "0, 16, ..., 240": numbers in ascending order; null: too many that follow
 * no rule. */
function listText(numbers) {
  const runs = [];
  for (const n of numbers) {
    const last = runs[runs.length - 1];
    if (last && n === last[1] + 1) last[1] = n;
    else runs.push([n, n]);
  }
  if (runs.length <= 4)
    return runs.map(([a, b]) => (a === b ? String(a) : b === a + 1 ? a + ', ' + b : a + '..' + b)).join(', ');
  const apart = numbers[1] - numbers[0], last = numbers[numbers.length - 1];
  return numbers.every((n, i) => n === numbers[0] + i * apart) ? `${numbers[0]}, ${numbers[1]}, ..., ${last}` : null;
}

const rangeText = (numbers) => listText(numbers) || numbers[0] + '...' + numbers[numbers.length - 1];

const ascending = (numbers) => [...new Set(numbers)].sort((a, b) => a - b);

const joinWords = (parts, word = 'and') => parts.length < 2 ? parts.join('') : parts.slice(0, -1).join(', ') + ` ${word} ` + parts[parts.length - 1];

/* "A and B", "A or B". */
const namesText = (arrays, word) => joinWords(arrays.map((array) => array.name), word);

const FEW_NAMES = 3;

/* "A[0..1][0..15]" where the elements fill such a rectangle, else how many elements of A. */
function elementsText(array, offsets) {
  const all = ascending(offsets);
  if (all.length === 1) return elementName(array, all[0]);
  if (array.dims.length === 1) {
    const list = listText(all);
    return list ? array.name + '[' + list + ']' : `${all.length} elements of ${array.name}, from ${elementName(array, all[0])} on`;
  }
  const indices = all.map((offset) => indexOf(array, offset));
  const axes = array.dims.map((_, d) => ascending(indices.map((index) => index[d])));
  if (all[0] < 0 || all.length !== axes.reduce((product, axis) => product * axis.length, 1))
    return all.length <= FEW_NAMES ? joinWords(all.map((offset) => elementName(array, offset))) : all.length + ' elements of ' + array.name;
  return bracketed(array.name, axes.map(rangeText));
}

/* "threads (0..3,2)" where they are such a rectangle, else how many threads. */
function threadsText(run, threads) {
  const all = ascending(threads);
  if (all.length === 1) return 'thread ' + threadName(run, all[0]);
  if (all.length === run.threadCount) return 'all ' + all.length + ' threads';
  const axes = [0, 1, 2].map((d) => ascending(all.map((t) => threadIndex(run, t)[d])));
  if (axes[0].length * axes[1].length * axes[2].length !== all.length) return all.length + ' threads';
  const shown = run.launch.block[2] > 1 ? axes : axes.slice(0, 2);
  return 'threads (' + shown.map(rangeText).join(',') + ')';
}

const expandThreads = (ranges) => [...expandRuns(ranges.map(([first, last]) => [first, last - first + 1]))];
