/* What the checker found, in its words, with the steps and lines that it is about. */

function makeFinding(app) {
  const { run } = app, { finding } = run;
  const box = byId('finding');
  box.hidden = !finding;
  if (!finding) return;
  const { cause } = finding;
  byId('finding-title').textContent = headline(run, cause || finding);
  const details = byId('finding-details');
  const paragraph = (text) => element('p', '', withoutFile(run, text));
  if (cause) details.append(...cause.detail.map(paragraph), element('p', 'symptom', 'symptom: ' + headline(run, finding)));
  details.append(...finding.detail.map(paragraph));
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
    if (missing.length) notes.push(`No thread of any block stores ${elementsText(array, missing)} (hatched). ` + whoShouldStore(run, array, Math.min(...missing)));
  }
  return notes.map((text) => element('p', '', text));
}

/* The thread that is shown at first: the finding's, if it has one. */
function firstThread(run) {
  const { finding } = run;
  return finding && finding.thread ? threadNumber(run, finding.thread) : 0;
}
