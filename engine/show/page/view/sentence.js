/* A step in words: what the line that acts does, and what the selected thread does in it. */

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
  if (number !== finding?.other_step) return '';
  return finding.race ? ` Finding: the other thread's access.` : ' Finding: the other access.';
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
  const size = warpThreads(run, step.warp).length, groups = [];
  for (const [site, list] of bySite(accesses)) {
    const count = new Set(list.map((a) => a.thread)).size;
    if (groups.at(-1)?.count !== count) groups.push({ count, parts: [] });
    groups.at(-1).parts.push([verbOf(site), elementsText(site.array, list.map((a) => a.offset))]);
  }
  const who = (count) => (count === size ? `all ${size} threads` : `${count} of ${size} threads`);
  return line + groups.map(({ count, parts }) => `${who(count)} ${joinVerbs(parts)}`).join('; ') + '.';
}

/* [verb, object], ...: a verb that repeats is said once. */
function joinVerbs(parts) {
  const groups = [];
  for (const [verb, object] of parts) {
    if (groups.at(-1)?.verb !== verb) groups.push({ verb, objects: [] });
    groups.at(-1).objects.push(object);
  }
  return joinWords(groups.map(({ verb, objects }) => `${verb} ${joinWords(objects)}`));
}

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

/* --- what the checker found, in its words, with the steps and lines that it is about ---------- */

function makeFinding(app) {
  const { run } = app, { finding } = run, { cause } = finding || {};
  byId('finding').hidden = !finding;
  if (!finding) return;
  const paragraphs = (detail) => detail.map((text) => element('p', '', withoutFile(run, text)));
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

/* Of the outputs the first place that nobody has stored to, or whose value is wrong; null: all are correct.
 * Both are kept in ascending order. */
function firstAmiss(run) {
  for (const array of run.outputs)
    for (const offsets of [array.unwrittenSet, array.wrongMap])
      for (const offset of offsets.keys()) return { array, offset };
  return null;
}

/* The thread that is shown at first: the finding's, if it has one, or that which stores what is wrong. */
function firstThread(run) {
  const { finding } = run;
  if (finding?.thread) return threadNumber(run, finding.thread);
  const { array, offset } = finding && firstAmiss(run) || {};
  return array?.accesses.get(offset)?.at(-1).thread ?? 0;
}
