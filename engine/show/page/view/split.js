/* How wide the code is, beside the data: as its lines are, up to 80 columns and a share of the window. The border between them can be dragged, and moved with the arrow keys. */

const CODE_COLUMNS = 80, LEAST_WIDTH = 300, KEY_STEP = 24; /* pixels */
const SHARE = 0.4; /* of the window's width */

/* Of a line with so many characters, with its number. */
function widthOfCode(columns) {
  const probe = span('', '0'.repeat(20)), line = element('code');
  line.append(probe);
  byId('code').append(line);
  const character = probe.getBoundingClientRect().width / 20;
  line.remove();
  const around = byId('left').clientWidth - byId('code').clientWidth, number = 64;
  return Math.ceil(columns * character) + around + number;
}

function makeSplit(app) {
  const split = byId('split'), main = split.parentNode;
  const longest = Math.max(...app.run.source.map((text) => indentOf(text) + text.trim().length));
  const wanted = widthOfCode(Math.min(CODE_COLUMNS, longest));
  const room = () => main.clientWidth - 2 * parseFloat(getComputedStyle(main).paddingLeft);
  const most = () => Math.max(LEAST_WIDTH, room() - LEAST_WIDTH);
  const usual = () => Math.min(wanted, SHARE * room());
  let chosen = null; /* by the reader */
  const show = () => {
    const width = Math.max(LEAST_WIDTH, Math.min(most(), chosen ?? usual()));
    main.style.setProperty('--left', width + 'px');
    split.setAttribute('aria-valuemin', LEAST_WIDTH);
    split.setAttribute('aria-valuemax', most());
    split.setAttribute('aria-valuenow', Math.round(width));
    return width;
  };
  const choose = (width) => { chosen = width; show(); };
  split.addEventListener('pointerdown', (event) => split.setPointerCapture(event.pointerId));
  split.addEventListener('pointermove', (event) => {
    if (split.hasPointerCapture(event.pointerId)) choose(event.clientX - byId('left').getBoundingClientRect().left);
  });
  split.addEventListener('dblclick', () => choose(null));
  split.addEventListener('keydown', (event) => {
    const to = { ArrowLeft: show() - KEY_STEP, ArrowRight: show() + KEY_STEP, Home: LEAST_WIDTH, End: most(), Enter: null }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    choose(to);
    event.preventDefault();
  });
  window.addEventListener('resize', show);
  show();
}
