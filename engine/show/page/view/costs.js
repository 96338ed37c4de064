/* What the step costs: banks of shared memory and sectors of global memory that the warp's request
 * needs, as --counts counts them; and the block's loads of inputs so far. */

const SECTOR_WORDS = 8; /* 32 bytes */
const BANKS = 32;
const WORD_BYTES = 4;

/* The words that an element lies in. */
function wordsOf({ array: { bytes }, offset }) {
  const first = Math.floor(offset * bytes / WORD_BYTES);
  const last = Math.floor(((offset + 1) * bytes - 1) / WORD_BYTES);
  return range(first, last + 1);
}

/* Of one lane. */
const wordsOfSite = ({ words, array }) => Math.ceil(words * array.bytes / WORD_BYTES);

/* Words that the request needs from each bank, in the parts in which the hardware serves it: all
 * lanes at once, half a warp with 8 bytes a lane, a quarter with 16. */
function bankParts(site, accesses) {
  const words = wordsOfSite(site), lanes = words >= 4 ? 8 : words === 2 ? 16 : 32, parts = [];
  for (const a of accesses) {
    const number = Math.floor((a.thread % WARP) / lanes);
    const part = (parts[number] ||= Array.from({ length: BANKS }, () => new Set()));
    for (const word of wordsOf(a)) part[((word % BANKS) + BANKS) % BANKS].add(word);
  }
  return parts.filter(Boolean);
}

const worstOf = (part) => Math.max(...part.map((words) => words.size));

function bankStrip(site, accesses) {
  const parts = bankParts(site, accesses), passes = parts.reduce((sum, part) => sum + worstOf(part), 0);
  const worst = Math.max(...parts.map(worstOf));
  const wanted = Array.from({ length: BANKS }, (_, b) => Math.max(...parts.map((part) => part[b].size)));
  const text = `${plural(passes, 'pass', 'passes')} through shared memory` +
    (parts.length > 1 ? `, ${wordsOfSite(site)} words a lane` : '') +
    (passes === parts.length ? ': no bank conflict' : `: ${worst}-way bank conflict`);
  return { picture: drawBanks(wanted, worst), text };
}

const STRIP = { cell: 9, high: 7, most: 8 };

function drawBanks(wanted, worst) {
  const rows = Math.min(worst, STRIP.most), height = rows * STRIP.high + 14;
  const node = svg('svg', { class: 'strip banks', width: BANKS * STRIP.cell + 2, height, role: 'img', 'aria-label': 'words needed from each of 32 banks: ' + wanted.join(' ') });
  wanted.forEach((count, bank) => {
    for (let i = 0; i < Math.max(1, Math.min(count, rows)); i++)
      node.append(svg('rect', { class: i >= count ? 'free' : i ? 'conflict' : 'used', x: bank * STRIP.cell + 1,
                                y: (rows - 1 - i) * STRIP.high + 1, width: STRIP.cell - 1, height: STRIP.high - 1 }));
  });
  for (const bank of [0, 8, 16, 24, 31]) node.append(svg('text', { class: 'label', x: bank * STRIP.cell + 5, y: height - 3 }, String(bank)));
  return node;
}

/* Arrays begin at multiples of 32 bytes, so an element's offset says its sector. */
function sectorStrip(accesses) {
  const used = ascending(accesses.flatMap(wordsOf)), sectors = new Map();
  for (const word of used) addTo(sectors, Math.floor(word / SECTOR_WORDS), word);
  const share = Math.round(100 * used.length / (sectors.size * SECTOR_WORDS));
  const text = `${plural(sectors.size, 'sector')} of 32 bytes; ${share} % of ${sectors.size === 1 ? 'its' : 'their'} bytes are used`;
  return { picture: drawSectors([...sectors]), text };
}

function drawSectors(sectors) {
  const perRow = 4, size = 8, wide = SECTOR_WORDS * size + 8, most = 32;
  const rows = Math.ceil(Math.min(sectors.length, most) / perRow);
  const node = svg('svg', { class: 'strip sectors', width: perRow * wide, height: rows * (size + 5) + 2, role: 'img',
    'aria-label': `${sectors.length} sectors; words used in each: ${sectors.map(([, used]) => used.length).join(' ')}` });
  sectors.slice(0, most).forEach(([sector, used], i) => {
    const x = (i % perRow) * wide + 1, y = Math.floor(i / perRow) * (size + 5) + 1;
    for (let w = 0; w < SECTOR_WORDS; w++)
      node.append(svg('rect', { class: used.includes(sector * SECTOR_WORDS + w) ? 'used' : 'free',
                                x: x + w * size, y, width: size - 1, height: size }));
  });
  return node;
}

function updateStrips({ run, state }) {
  const accesses = run.steps[state.step]?.accesses || [];
  byId('strips').replaceChildren(...bySite(accesses).slice(0, 6).map(([site, list]) => stripOf(site, list)));
  if (!accesses.length) byId('strips').append(element('p', 'quiet', 'No access to memory in this step.'));
}

function stripOf(site, list) {
  const { array, atomic, write } = site;
  const { picture, text } = array.role === 'shared' ? bankStrip(site, list) : sectorStrip(list);
  const figure = element('figure', 'strip-figure'), what = atomic ? 'atomic update of' : write ? 'store to' : 'load of';
  figure.append(element('figcaption', '', `${what} ${array.name}: ${text}`), picture);
  return figure;
}

/* --- loads of inputs -------------------------------------------------------------------------- */

/* By this block, up to the state's step. */
const loadsSoFar = (state) => state.run.loadsOfInputs.filter((a) => isDone(state, a)).length;

function updateTotals({ run, state }) {
  const stored = run.outputs.flatMap((array) => [...array.accesses.values()])
    .filter((list) => isInside(list[0]) && list.some((a) => a.write)).length;
  const all = run.loadsOfInputs.length;
  const rows = [['this block, so far', loadsSoFar(state), 'so-far'], ['this block, in all', all, 'all']];
  const naive = run.naive * stored, same = `${plural(stored, 'element')} of ${namesText(run.outputs)}`;
  if (naive) rows.push([`naive kernel, same ${same}`, naive, 'naive']);
  const most = Math.max(1, ...rows.map(([, count]) => count));
  byId('totals').replaceChildren(...rows.map((row) => totalRow(row, most)), ...launchRows(run));
}

function totalRow([name, count, kind], most) {
  const row = element('div', 'total ' + kind);
  row.append(element('span', 'total-name', name), element('span', 'total-count', formatCount(count)),
             progressBar('total', Math.round(1000 * count / most) / 10));
  return row;
}

/* So many per cent of it are full. */
function progressBar(kind, share) {
  const track = element('span', kind + '-track'), bar = element('span', kind + '-bar');
  bar.style.width = share + '%';
  track.append(bar);
  return track;
}

function launchRows(run) {
  const rows = [], { loads } = run;
  if (loads && !run.end.stopped) { /* of a run that went to its end */
    const ratio = loads.launch ? Number((loads.naive / loads.launch).toPrecision(3)) : 0;
    const times = !ratio ? '' : ratio === 1 ? ', as many' : `, ${ratio} times as many`;
    const naive = run.naive ? ` The naive kernel: ${formatCount(loads.naive)}${times}.` : '';
    const text = `All blocks: ${formatCount(loads.launch)} loads of ${namesText(run.inputs)}.${naive}`;
    rows.push(element('p', 'launch-loads', text));
  }
  if (run.left_out)
    rows.push(element('p', 'quiet', `${formatCount(run.left_out)} accesses of this block are not in this page; its totals are without them.`));
  return rows;
}
