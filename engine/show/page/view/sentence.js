/* A step in words: what the line that acts does, and what the selected thread does in it. */

function sentenceAt(state, thread) {
  const { run } = state, step = run.steps[state.step];
  if (!step) return beginSentence(run);
  if (step.warp < 0) return barrierSentence(run, step) + findingSentence(run, step);
  const own = ownSentence(state, thread);
  return [actingSentence(state, step), own].filter(Boolean).join(' ') + findingSentence(run, step) + (isWhole(state) ? endSentence(run, step) : '');
}

/* At the steps that the finding is about. */
function findingSentence({ finding }, step) {
  if (!finding) return '';
  if (step.number === finding.step) return ` Finding: ${finding.what}.`;
  if (step.number === finding.other_step) return finding.race ? ` Finding: the other thread's access.` : ' Finding: the other access.';
  return '';
}

function beginSentence(run) {
  const { block } = run.launch;
  const warps = Math.ceil(run.threadCount / WARP);
  return `Before the first step. Block ${blockName(run)} has ${block.filter((n, i) => i < 2 || n > 1).join(' x ')} threads, ` +
    `${plural(warps, 'warp')}. Press the right arrow key for the first step.`;
}

function barrierSentence(run, step) {
  const line = step.line ? `Line ${step.line}: ` : '';
  if (step.who)
    return line + 'threads are at different barriers: ' + whoText(run, step.who) + '. On a GPU, whatever follows is undefined.';
  const all = step.threads === run.threadCount;
  return `${line}__syncthreads(). ` + (all ? `All ${step.threads} threads have arrived and continue.`
    : `${step.threads} of the block's ${run.threadCount} threads have arrived and continue; the others have returned.`) +
    endSentence(run, step);
}

function whoText(run, who) {
  const parts = (who.waiting || []).map((w) => threadsText(run, expandThreads(w.threads)) + ' wait' + atLine(w.line));
  if ((who.returned || []).length) parts.push(threadsText(run, expandThreads(who.returned)) + ' returned');
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
function endSentence(run, step) {
  if (step.number !== run.last || run.left_out) return '';
  const who = whoText(run, { ...run.end, returned: (run.end.waiting || []).length ? run.end.returned : [] });
  if (run.end.stopped) return ' Here the run was stopped' + (who ? ': ' + who : ' by the finding') + '.';
  return who ? ' At the end ' + who + '.' : ' The block is done.';
}

const verbOf = (site) => (site.atomic ? 'atomically update' : site.write ? 'store to' : 'load');
const verbsOf = (site) => (site.atomic ? 'atomically updates' : site.write ? 'stores to' : 'loads');
const verbedOf = (site) => (site.atomic ? 'atomically updated' : site.write ? 'stored' : 'loaded');

/* Accesses of a step, by site. */
function bySite(run, accesses) {
  const sites = new Map();
  for (const a of accesses) addTo(sites, run.accesses.site[a], a);
  return [...sites];
}

function actingSentence(state, step) {
  const { run } = state, threads = actingThreads(state);
  const line = step.line ? `Line ${step.line}` : 'In another file';
  if (threads.length === 1) return `${line}, warp ${step.warp}: ${threadSentence(run, threads[0], actingAccesses(state))}.`;
  const size = warpThreads(run, step.warp).length, groups = [];
  for (const [number, list] of bySite(run, actingAccesses(state))) {
    const site = run.sites[number], count = new Set(list.map((a) => run.accesses.thread[a])).size;
    if (!groups.length || groups[groups.length - 1].count !== count) groups.push({ count, parts: [] });
    groups[groups.length - 1].parts.push([verbOf(site), elementsText(run.arrays[site.array], list.map((a) => run.accesses.offset[a]))]);
  }
  const who = (count) => (count === size ? `all ${size} threads` : `${count} of ${size} threads`);
  return `${line}, warp ${step.warp}: ${groups.map(({ count, parts }) => `${who(count)} ${joinVerbs(parts)}`).join('; ')}.`;
}

/* [verb, object], ...: a verb that repeats is said once. */
function joinVerbs(parts) {
  const groups = [];
  for (const [verb, object] of parts) {
    const last = groups[groups.length - 1];
    if (last && last.verb === verb) last.objects.push(object);
    else groups.push({ verb, objects: [object] });
  }
  return joinWords(groups.map((group) => group.verb + ' ' + joinWords(group.objects)));
}

/* What the selected thread does, if it is one of several. */
function ownSentence(state, thread) {
  const { run } = state, own = actingAccesses(state).filter((a) => run.accesses.thread[a] === thread);
  if (!own.length) return '';
  const alone = actingThreads(state).length === 1;
  const text = threadSentence(run, thread, own);
  return [alone ? '' : text[0].toUpperCase() + text.slice(1) + '.', sumPart(state, thread)].filter(Boolean).join(' ');
}

const MOST_PARTS = 4;

/* "thread (2,1) loads A[1][2] = 23 and stores it to A_s[1][2]" */
function threadSentence(run, thread, own) {
  const verb = (a) => (isCopyOf(run, a, own) ? 'stores it to' : verbsOf(siteOf(run, a)));
  const parts = own.slice(0, MOST_PARTS).map((a) => [verb(a), objectOf(run, a, own)]);
  const more = own.length > MOST_PARTS ? ', and ' + (own.length - MOST_PARTS) + ' more' : '';
  return `thread ${threadName(run, thread)} ${joinVerbs(parts)}${more}`;
}

/* Whether this stores what was loaded just before. */
function isCopyOf(run, a, own) {
  return siteOf(run, a).write && own.indexOf(run.accesses.from[a]) === own.indexOf(a) - 1 && own.includes(run.accesses.from[a]);
}

function objectOf(run, a, own) {
  const site = siteOf(run, a), array = arrayOf(run, a), offset = run.accesses.offset[a];
  const name = elementName(array, offset), value = valueText(run, a);
  const outside = isInside(array, offset) ? '' : ' (outside ' + array.name + ')';
  if (isCopyOf(run, a, own)) return name + outside;
  const origin = array.role === 'shared' && !site.write ? originName(run, a) : null;
  const isEmpty = !site.write && array.role === 'shared' && run.accesses.before[a] === NONE;
  return [name, origin, isEmpty ? null : value].filter(Boolean).join(' = ') + outside + (isEmpty ? ' (not stored yet)' : '');
}

/* "3", of an atomic operation "3 → 5". */
function valueText(run, a) {
  const { value, old } = run.accesses;
  return (siteOf(run, a).atomic ? formatNumber(old[a]) + ' → ' : '') + formatNumber(value[a]);
}

function sumPart(state, thread) {
  for (const sum of sumsOf(state.run, thread)) {
    const done = sum.followed ? termsDone(state, sum) : 0;
    if (!done || sum.terms[done - 1].step !== state.step) continue;
    return `Its sum for ${elementName(state.run.arrays[state.run.output], sum.offset)} is now ${formatNumber(round(sum.terms[done - 1].sum))}.`;
  }
  return '';
}

/* What the checker found, in its words, with the steps and lines that it is about. */

function makeFinding(app) {
  const { run } = app, { finding } = run;
  const box = byId('finding');
  box.hidden = !finding;
  if (!finding) return;
  const { cause } = finding;
  byId('finding-title').textContent = headline(cause || finding);
  const details = byId('finding-details'), symptom = byId('finding-symptom');
  const paragraph = (text) => element('p', '', withoutFile(run, text));
  if (cause) {
    details.append(...cause.detail.map(paragraph));
    symptom.append(element('p', 'symptom', 'symptom: ' + headline(finding)));
  }
  (cause ? symptom : details).append(...finding.detail.map(paragraph));
  const hint = (cause && cause.hint) || finding.hint;
  byId('finding-hint').textContent = hint ? 'Hint: ' + hint : '';
  byId('finding-moves').append(...findingButtons(app));
  details.append(...notesOnEnd(run));
}

const headline = (what) => (what.line ? `line ${what.line}: ` : '') + what.what;

function findingButtons(app) {
  const { finding } = app.run;
  const parties = [[finding.other_step, finding.other, 'other'], [finding.step, finding, 'this']];
  return parties.filter(([step]) => Number.isInteger(step)).map(([step, party, kind]) => {
    const who = party.thread ? 'thread ' + threadName(app.run, threadNumber(app.run, party.thread)) : 'the step';
    const does = party.access === 'write' ? ' stores' : party.access === 'read' ? ' loads' : '';
    const button = element('button', 'party-button ' + kind, `${who}${does}${atLine(party.line)}: step ${step}`);
    button.type = 'button';
    button.addEventListener('click', () => {
      if (party.thread) app.selection.thread = threadNumber(app.run, party.thread);
      goTo(app, { step });
    });
    return button;
  });
}

/* What the end of the trace shows: who waits where, what nobody stored. */
function notesOnEnd(run) {
  const notes = [];
  const who = whoText(run, run.end);
  if ((run.end.waiting || []).length) notes.push('When the run stopped: ' + who + '.');
  for (const array of run.outputs) {
    const missing = [...array.unwrittenSet];
    if (missing.length) notes.push(`No thread of any block stores ${elementsText(array, missing)} (hatched). ` + whoShouldStore(run, array, missing[0]));
  }
  return notes.map((text) => element('p', '', text));
}

/* Of the outputs the first element that nobody has stored, or that is wrong: {array, offset}; null: all are correct. Both
 * are kept in ascending order. */
function firstAmiss(run) {
  for (const array of run.outputs)
    for (const offsets of [array.unwrittenSet, array.wrongMap]) if (offsets.size) return { array, offset: offsets.keys().next().value };
  return null;
}

/* The thread that is shown at first: the finding's, if it has one, or that which stores what is wrong. */
function firstThread(run) {
  const { finding } = run, amiss = finding && firstAmiss(run);
  if (finding?.thread) return threadNumber(run, finding.thread);
  const stores = amiss ? accessesOf(run, amiss.array).get(amiss.offset) : null;
  return stores ? run.accesses.thread[stores[stores.length - 1]] : 0;
}
