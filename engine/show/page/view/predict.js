/* Predict: a question before each barrier, about the selected thread: which element it loads next, or
 * what its sum is now. */

const FEW_TERMS = 8; /* more products are not to be added up by hand */
const INDEX_NAMES = { 1: ['index'], 2: ['row', 'column'], 3: ['plane', 'row', 'column'] };

/* A question at a barrier; null: there is nothing to ask. */
function questionAt(app, barrier) {
  return sumQuestion(app, barrier) || loadQuestion(app, barrier);
}

function loadQuestion({ run, selection }, barrier) {
  const next = threadAccesses(run, selection.thread).find((a) =>
    run.accesses.step[a] > barrier && !siteOf(run, a).write && arrayOf(run, a).role === 'input' && isInside(arrayOf(run, a), run.accesses.offset[a]));
  if (next === undefined) return null;
  const array = arrayOf(run, next), index = indexOf(array, run.accesses.offset[next]);
  const formula = formulaAt(run, next);
  return {
    text: `From this barrier on, which element of ${array.name} does thread ${threadName(run, selection.thread)} load first?`,
    fields: index.map((i, d) => [INDEX_NAMES[index.length][d], i]),
    why: `Line ${siteOf(run, next).line} loads ${elementName(array, run.accesses.offset[next])}` +
         (formula ? `: ${array.name}${formula.withNumbers}` : '') + '.',
  };
}

function sumQuestion({ run, selection }, barrier) {
  const sum = sumsOf(run, selection.thread).find((s) => s.followed && s.textbook);
  if (!sum) return null;
  const done = sum.terms.filter((t) => t.step < barrier), interval = run.steps[barrier].interval;
  const fresh = done.filter((t) => run.steps[t.step].interval === interval);
  if (!fresh.length) return null;
  const name = elementName(run.arrays[run.output], sum.offset), who = threadName(run, selection.thread);
  const last = done[done.length - 1];
  const why = `In this interval it added ${fresh.slice(0, 3).map((t) => termText(run, t)).join(' + ')}${fresh.length > 3 ? ' + ...' : ''}; ` +
    `${done.length} of ${sum.terms.length} products make ${formatNumber(round(last.sum))}.`;
  if (done.length <= FEW_TERMS)
    return { text: `What is the sum of thread ${who} for ${name} now?`, fields: [['sum', round(last.sum)]], why };
  return { text: `How many products are in the sum of thread ${who} for ${name} now?`, fields: [['products', done.length]], why };
}

/* The first barrier on the way that has a question not yet asked; null: none. */
function questionBetween(app, from, to) {
  if (!byId('predict-on').checked) return null;
  for (let s = from + 1; s <= to; s++) {
    if (app.run.steps[s].warp >= 0 || app.predict.answered.has(s)) continue;
    const question = questionAt(app, s);
    if (question) return { ...question, barrier: s };
  }
  return null;
}

function ask(app, question) {
  app.predict.asked = question;
  byId('predict-question').textContent = question.text;
  byId('predict-fields').replaceChildren(...question.fields.map(([name], i) => {
    const label = element('label', '', name + ' '), input = element('input');
    input.type = 'text';
    input.inputMode = 'decimal';
    input.autocomplete = 'off';
    input.id = 'predict-' + i;
    input.size = 8;
    label.append(input);
    return label;
  }));
  byId('predict-form').hidden = false;
  byId('predict-answer').textContent = '';
  byId('predict-pane').scrollIntoView({ block: 'nearest' });
  byId('predict-0').focus();
}

function answer(app) {
  const question = app.predict.asked;
  if (!question) return;
  const empty = question.fields.findIndex((_, i) => byId('predict-' + i).value.trim() === '');
  if (empty >= 0) {
    byId('predict-answer').textContent = `Please fill in the ${question.fields[empty][0]}.`;
    return byId('predict-' + empty).focus();
  }
  const isRight = question.fields.every(([, right], i) => {
    const text = byId('predict-' + i).value.trim();
    return Number(text) === right || formatNumber(right) === text;
  });
  app.predict.right += isRight ? 1 : 0;
  app.predict.count++;
  const right = question.fields.map(([name, value]) => `${name} ${formatNumber(value)}`).join(', ');
  byId('predict-answer').textContent = (isRight ? 'Right. ' : `Not so: ${right}. `) + question.why;
  byId('predict-score').textContent = `${app.predict.right} of ${app.predict.count} right`;
  finishQuestion(app);
}

function finishQuestion(app) {
  if (app.predict.asked) app.predict.answered.add(app.predict.asked.barrier);
  app.predict.asked = null;
  byId('predict-form').hidden = true;
  byId('forward').focus();
}

function makePredict(app) {
  app.predict = { asked: null, answered: new Set(), right: 0, count: 0 };
  const on = byId('predict-on');
  on.disabled = !barriers(app.run).length;
  byId('predict-help').textContent = on.disabled ? 'Not here: the block passes no barrier.'
    : 'Stops before a barrier and asks for one value of the selected thread.';
  on.addEventListener('change', () => {
    app.predict.answered.clear();
    byId('predict-help').hidden = on.checked;
    if (!on.checked) finishQuestion(app);
  });
  byId('predict-form').addEventListener('submit', (event) => { event.preventDefault(); answer(app); });
  byId('predict-skip').addEventListener('click', () => { finishQuestion(app); byId('predict-answer').textContent = ''; });
}
