/* What the step costs: banks of shared memory and sectors of global memory that the warp's request
 * needs, as --counts counts them; and the block's loads of inputs so far. */

const SECTOR_WORDS = 8; /* 32 bytes */
const BANKS = 32;

const WORD_BYTES = 4;

/* The words that an element of the site's array lies in. */
function wordsOf(run, site, offset) {
  const { bytes } = run.arrays[site.array];
  const first = Math.floor(offset * bytes / WORD_BYTES), last = Math.floor(((offset + 1) * bytes - 1) / WORD_BYTES);
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/* Of one lane. */
const wordsOfSite = (run, site) => Math.ceil(site.words * run.arrays[site.array].bytes / WORD_BYTES);

/* Words that the request needs from each bank, in the parts in which the hardware serves it: all
 * lanes at once, half a warp with 8 bytes a lane, a quarter with 16. */
function bankParts(run, site, accesses) {
  const words = wordsOfSite(run, site);
  const lanes = words >= 4 ? 8 : words === 2 ? 16 : 32;
  const parts = [];
  for (const a of accesses) {
    const part = (parts[Math.floor((run.accesses.thread[a] % WARP) / lanes)] ||= Array.from({ length: BANKS }, () => new Set()));
    for (const word of wordsOf(run, site, run.accesses.offset[a])) part[((word % BANKS) + BANKS) % BANKS].add(word);
  }
  return parts.filter(Boolean);
}

const worstOf = (part) => Math.max(...part.map((words) => words.size));

function bankStrip(run, site, accesses) {
  const parts = bankParts(run, site, accesses);
  const passes = parts.reduce((sum, part) => sum + worstOf(part), 0);
  const worst = Math.max(...parts.map(worstOf));
  const wanted = Array.from({ length: BANKS }, (_, b) => Math.max(...parts.map((part) => part[b].size)));
  const text = `${plural(passes, 'pass', 'passes')} through shared memory` +
    (parts.length > 1 ? `, ${wordsOfSite(run, site)} words a lane` : '') +
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
function sectorStrip(run, site, accesses) {
  const sectors = new Map();
  for (const a of accesses) {
    for (const word of wordsOf(run, site, run.accesses.offset[a])) {
      const sector = Math.floor(word / SECTOR_WORDS);
      if (!sectors.has(sector)) sectors.set(sector, new Set());
      sectors.get(sector).add(word - sector * SECTOR_WORDS);
    }
  }
  const words = [...sectors.values()].reduce((sum, used) => sum + used.size, 0);
  const share = Math.round(100 * words / (sectors.size * SECTOR_WORDS));
  const text = `${plural(sectors.size, 'sector')} of 32 bytes; ${share} % of ${sectors.size === 1 ? 'its' : 'their'} bytes are used`;
  return { picture: drawSectors([...sectors].sort((x, y) => x[0] - y[0])), text };
}

function drawSectors(sectors) {
  const perRow = 4, size = 8, wide = SECTOR_WORDS * size + 8, rows = Math.ceil(Math.min(sectors.length, 32) / perRow);
  const node = svg('svg', { class: 'strip sectors', width: perRow * wide, height: rows * (size + 5) + 2, role: 'img',
    'aria-label': sectors.length + ' sectors; words used in each: ' + sectors.map(([, used]) => used.size).join(' ') });
  sectors.slice(0, 32).forEach(([, used], i) => {
    const x = (i % perRow) * wide + 1, y = Math.floor(i / perRow) * (size + 5) + 1;
    for (let w = 0; w < SECTOR_WORDS; w++)
      node.append(svg('rect', { class: used.has(w) ? 'used' : 'free', x: x + w * size, y, width: size - 1, height: size }));
  });
  return node;
}

function updateStrips(app) {
  const { run, state } = app, step = run.steps[state.step], box = byId('strips');
  box.replaceChildren();
  if (!step || step.warp < 0 || step.end === step.first) {
    box.append(element('p', 'quiet', 'No access to memory in this step.'));
    return;
  }
  const accesses = Array.from({ length: step.end - step.first }, (_, i) => step.first + i);
  for (const [number, list] of bySite(run, accesses).slice(0, 6)) box.append(stripOf(run, run.sites[number], list));
}

function stripOf(run, site, list) {
  const array = run.arrays[site.array], shared = array.role === 'shared';
  const { picture, text } = shared ? bankStrip(run, site, list) : sectorStrip(run, site, list);
  const figure = element('figure', 'strip-figure');
  figure.append(element('figcaption', '', `${site.atomic ? 'atomic update of' : site.write ? 'store to' : 'load of'} ${array.name}: ${text}`), picture);
  return figure;
}

/* --- loads of inputs -------------------------------------------------------------------------- */

/* Loads up to the end of each step. */
function countLoads(run) {
  run.loadsUpTo = new Int32Array(run.steps.length);
  let count = 0;
  for (const step of run.steps) {
    for (let a = step.first; a < step.end; a++) if (!siteOf(run, a).write && arrayOf(run, a).role === 'input') count++;
    run.loadsUpTo[step.number] = count;
  }
  run.elementsStored = run.outputs.flatMap((array) => [...accessesOf(run, array)].filter(([offset, list]) =>
    isInside(array, offset) && list.some((a) => siteOf(run, a).write))).length;
}

/* Of the last step only those of the lanes that have run. */
function loadsSoFar(state) {
  const { run } = state, step = run.steps[state.step];
  if (!step) return 0;
  if (!run.loadsUpTo) countLoads(run);
  let count = run.loadsUpTo[state.step];
  for (let a = step.first; a < step.end; a++)
    if (!siteOf(run, a).write && arrayOf(run, a).role === 'input' && !isDone(state, a)) count--;
  return count;
}

function updateTotals(app) {
  const { run, state } = app;
  if (!run.loadsUpTo) countLoads(run);
  const sofar = loadsSoFar(state), all = run.steps.length ? run.loadsUpTo[run.last] : 0;
  const rows = [['this block, so far', sofar, 'so-far'], ['this block, in all', all, 'all']];
  const naive = run.naive * run.elementsStored;
  if (naive) rows.push([`naive kernel, same ${plural(run.elementsStored, 'element')} of ${namesText(run.outputs)}`, naive, 'naive']);
  const box = byId('totals'), most = Math.max(1, ...rows.map((row) => row[1]));
  box.replaceChildren(...rows.map(([name, count, kind]) => totalRow(name, count, kind, most)));
  box.append(...launchRows(run));
}

function totalRow(name, count, kind, most) {
  const row = element('div', 'total ' + kind), bar = element('span', 'total-bar');
  bar.style.width = Math.round(1000 * count / most) / 10 + '%';
  const track = element('span', 'total-track');
  track.append(bar);
  row.append(element('span', 'total-name', name), element('span', 'total-count', formatCount(count)), track);
  return row;
}

function launchRows(run) {
  const rows = [];
  if (run.loads && !run.end.stopped) { /* of a run that went to its end */
    const ratio = run.loads.launch ? run.loads.naive / run.loads.launch : 0;
    const rounded = Number(ratio.toPrecision(3)), times = !ratio ? '' : rounded === 1 ? ', as many' : `, ${rounded} times as many`;
    rows.push(element('p', 'launch-loads', `All blocks: ${formatCount(run.loads.launch)} loads of ${namesText(run.inputs)}.` +
      (run.naive ? ` The naive kernel: ${formatCount(run.loads.naive)}${times}.` : '')));
  }
  if (run.left_out) rows.push(element('p', 'quiet', `${formatCount(run.left_out)} accesses of this block are not in this page; its totals are without them.`));
  return rows;
}
