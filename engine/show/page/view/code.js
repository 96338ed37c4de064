/* The source with line numbers. The line that acts is marked; a selected line's accesses are
 * outlined in the data. */

const CODE_TOKEN = /(\/\/.*$|\/\*.*?(?:\*\/|$))|("(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?)|\b(\d[\w.]*)|\b(__\w+__|__syncthreads|__shared__|threadIdx|blockIdx|blockDim|gridDim|dim3)\b|\b(int|float|double|unsigned|const|void|for|if|else|while|do|return|template|class|typename|extern|static|struct|break|continue|size_t|bool|auto|true|false)\b|^(\s*#.*)$/g;
const CODE_CLASSES = ['comment', 'string', 'number', 'cuda', 'keyword', 'directive'];

/* The line's tokens as elements; `open`: whether it begins inside a comment. Returns whether the next
 * one does. */
function appendTokens(node, text, open) {
  let rest = text;
  if (open) {
    const end = text.indexOf('*/');
    const comment = end < 0 ? text : text.slice(0, end + 2);
    node.append(span('comment', comment));
    if (end < 0) return true;
    rest = text.slice(end + 2);
  }
  let at = 0, inside = false;
  for (const match of rest.matchAll(CODE_TOKEN)) {
    node.append(rest.slice(at, match.index), span(CODE_CLASSES[match.slice(1).findIndex((g) => g !== undefined)], match[0]));
    at = match.index + match[0].length;
    inside = match[0].startsWith('/*') && !match[0].endsWith('*/');
  }
  node.append(rest.slice(at));
  return inside;
}

function element(name, className, text) {
  const node = document.createElement(name);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

const span = (className, text) => element('span', className, text);
const byId = (id) => document.getElementById(id);

function makeCode(run) {
  const accessing = new Set(run.sites.map((site) => site.line));
  let open = false;
  run.source.forEach((text, i) => {
    const line = i + 1, node = element('div', accessing.has(line) ? 'line accesses' : 'line');
    node.id = 'line-' + line;
    node.setAttribute('role', 'option');
    node.setAttribute('aria-selected', 'false');
    node.tabIndex = -1;
    node.append(span('number-of-line', String(line)), element('code'));
    node.style.setProperty('--indent', indentOf(text));
    open = appendTokens(node.lastChild, text, open);
    byId('code').append(node);
  });
  byId('code-title').textContent = baseName(run.file);
  markFindingLines(run);
}

const TAB = 4; /* as in page.css */

/* Columns before the first character. */
function indentOf(text) {
  let columns = 0;
  for (const c of /^\s*/.exec(text)[0]) columns = c === '\t' ? (Math.floor(columns / TAB) + 1) * TAB : columns + 1;
  return columns;
}

const lineNode = (line) => (line ? byId('line-' + line) : null);

function markFindingLines(run) {
  const { finding } = run;
  if (!finding) return;
  const { slots, other, cause } = finding;
  lineNode(finding.line)?.classList.add('finding');
  lineNode(other.line)?.classList.add('finding-other');
  lineNode(cause?.line)?.classList.add('finding-cause');
  const mark = (line, text) => lineNode(line)?.append(span('missing-barrier', text));
  // Where neither is set, or a loop has several buffers, it may be another place.
  if ((slots.barrier_before || slots.barrier_loop) && !slots.buffers)
    mark(slots.barrier_after, '__syncthreads() is missing here');
  const where = finding.step === null || !run.phases.length ? '' : ' in phase ' + phaseNear(run, finding.step);
  mark(slots.barrier_passed, 'not reached by both threads' + where);
}

function updateCode(app) {
  const { run, state, selection } = app, step = run.steps[state.step];
  const acting = lineNode(step ? step.line : firstKernelLine(run)), selected = lineNode(selection.line);
  const focusable = selected || acting || lineNode(1);
  for (const node of byId('code').children) {
    node.classList.toggle('acting', Boolean(step) && node === acting);
    node.setAttribute('aria-selected', String(node === selected));
    node.tabIndex = node === focusable ? 0 : -1;
  }
  for (const node of document.querySelectorAll('#code .waiters')) node.remove();
  for (const { line, threads } of waitingAt(run, state.step).waiting) /* who waits at which barrier, beside its line */
    lineNode(line)?.append(span('waiters', threadsText(run, threads) + ' wait here'));
  if (acting && app.actingLine !== acting) scrollWithin(byId('code'), acting);
  app.actingLine = acting;
}

const firstKernelLine = (run) => Math.min(...run.sites.map((s) => s.line).filter(Boolean), run.source.length);

/* Not scrollIntoView(), which scrolls the page as well. */
function scrollWithin(box, node) {
  const top = node.offsetTop, room = box.clientHeight;
  if (top < box.scrollTop + 40 || top > box.scrollTop + room - 60) box.scrollTop = Math.max(0, top - room / 2);
}
