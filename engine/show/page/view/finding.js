/* What the checker found, in its words, with the steps and lines that it is about. */

function makeFinding(app) {
  const { run } = app, { finding } = run;
  const box = byId('finding');
  box.hidden = !finding;
  if (!finding) return;
  const { cause } = finding;
  byId('finding-title').textContent = headline(run, cause || finding);
  const details = byId('finding-details'), symptom = byId('finding-symptom');
  const paragraph = (text) => element('p', '', withoutFile(run, text));
  if (cause) {
    details.append(...cause.detail.map(paragraph));
    symptom.append(element('p', 'symptom', 'symptom: ' + headline(run, finding)));
  }
  (cause ? symptom : details).append(...finding.detail.map(paragraph));
  const hint = (cause && cause.hint) || finding.hint;
  byId('finding-hint').textContent = hint ? 'Hint: ' + hint : '';
  byId('finding-moves').append(...findingButtons(app));
  details.append(...notesOnEnd(run));
}

const headline = (run, what) => (what.line ? `line ${what.line}: ` : '') + what.what;

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
