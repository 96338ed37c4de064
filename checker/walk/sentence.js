/* A step in words: what the line that acts does, and what the selected thread does in it. */

function sentenceAt(state, thread) {
  const { run } = state, step = run.steps[state.step];
  if (!step) return beginSentence(run);
  if (step.warp < 0) return barrierSentence(run, step);
  const ownPart = ownSentence(state, thread);
  return actingSentence(state, step) + (ownPart ? ' ' + ownPart : '') + endSentence(run, step);
}

function beginSentence(run) {
  const { block } = run.launch;
  const warps = Math.ceil(run.threadCount / WARP);
  return `Before the first step. Block (${run.block.slice(0, 2)}) has ${block.filter((n, i) => i < 2 || n > 1).join(' x ')} threads, ` +
    `${plural(warps, 'warp')}. Press the right arrow key for the first step.`;
}

function barrierSentence(run, step) {
  const line = step.line ? `Line ${step.line}: ` : '';
  if (step.who) return line + 'threads are at different barriers: ' + whoText(run, step.who) + '.';
  const all = step.threads === run.threadCount;
  return `${line}__syncthreads(). ` + (all ? `All ${step.threads} threads have arrived, and go on.`
    : `${step.threads} of the block's ${run.threadCount} threads have arrived, and go on; the others have returned.`) +
    endSentence(run, step);
}

function whoText(run, who) {
  const parts = (who.waiting || []).map((w) => threadsText(run, expandThreads(w.threads)) + ' wait' + atLine(w.line));
  if ((who.returned || []).length) parts.push(threadsText(run, expandThreads(who.returned)) + ' returned');
  return parts.join('; ');
}

/* How the trace ends, after its last step. */
function endSentence(run, step) {
  if (step.number !== run.last) return '';
  if (run.left_out) return ` The recording ends here: ${plural(run.left_out, 'further access').replace('accesss', 'accesses')} left out.`;
  const who = whoText(run, { ...run.end, returned: (run.end.waiting || []).length ? run.end.returned : [] });
  if (run.end.stopped) return ' Here the run was stopped' + (who ? ': ' + who : ' by the finding') + '.';
  return who ? ' At the end ' + who + '.' : ' The block is done.';
}

const verbOf = (site) => (site.atomic ? 'update' : site.write ? 'store to' : 'load');

/* Accesses of a step, by site. */
function bySite(run, accesses) {
  const sites = new Map();
  for (const a of accesses) {
    const site = run.accesses.site[a];
    if (!sites.has(site)) sites.set(site, []);
    sites.get(site).push(a);
  }
  return [...sites];
}

function actingSentence(state, step) {
  const { run } = state, acting = actingAccesses(state);
  const line = step.line ? `Line ${step.line}` : 'In another file';
  const parts = bySite(run, acting).map(([number, list]) => {
    const site = run.sites[number], array = run.arrays[site.array];
    return verbOf(site) + ' ' + elementsText(array, list.map((a) => run.accesses.offset[a]));
  });
  const threads = actingThreads(state);
  if (threads.length === 1) return `${line}: thread ${threadName(run, threads[0])} (warp ${step.warp}) makes ${plural(parts.length, 'access').replace('accesss', 'accesses')}.`;
  const size = warpThreads(run, step.warp).length;
  const who = threads.length === size ? `all ${size} threads` : `${threads.length} of ${size} threads`;
  return `${line}, warp ${step.warp}: ${who} ${joinWords(parts)}.`;
}

const joinWords = (parts) => parts.length < 2 ? parts.join('') : parts.slice(0, -1).join(', ') + ' and ' + parts[parts.length - 1];

function ownSentence(state, thread) {
  const { run } = state, own = actingAccesses(state).filter((a) => run.accesses.thread[a] === thread);
  if (!own.length) return '';
  const parts = own.slice(0, 4).map((a) => ownPart(run, a, own));
  const more = own.length > 4 ? ', and ' + (own.length - 4) + ' more' : '';
  return `Thread ${threadName(run, thread)} ${joinWords(parts)}${more}.` + sumPart(state, thread);
}

function ownPart(run, a, own) {
  const site = siteOf(run, a), array = arrayOf(run, a), name = elementName(array, run.accesses.offset[a]);
  const value = formatNumber(run.accesses.value[a]);
  const outside = isInside(array, run.accesses.offset[a]) ? '' : ', which is outside ' + array.name;
  if (site.write) {
    const copied = own.includes(run.accesses.from[a]);
    return copied ? `stores it to ${name}${outside}` : `stores ${value} to ${name}${outside}`;
  }
  const origin = array.role === 'shared' ? originName(run, a) : null;
  return `loads ${name}${origin ? ', which is ' + origin + ',' : ''} = ${value}${outside}`;
}

function sumPart(state, thread) {
  for (const sum of sumsOf(state.run, thread)) {
    const done = sum.followed ? termsDone(state, sum) : 0;
    if (!done || sum.terms[done - 1].step !== state.step) continue;
    return ` Its sum for ${elementName(state.run.arrays[C], sum.offset)} is now ${formatNumber(round(sum.terms[done - 1].sum))}.`;
  }
  return '';
}
