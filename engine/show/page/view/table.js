/* The same in text: the accesses of this step, and the values of one array. Made only while open. */

const MOST_ROWS = 400;

function makeTable(app) {
  const select = byId('table-array');
  for (const array of app.run.arrays) {
    const option = element('option', '', array.name);
    option.value = array.number;
    select.append(option);
  }
  select.addEventListener('change', () => updateTable(app));
  byId('table-pane').addEventListener('toggle', () => updateTable(app));
}

function updateTable(app) {
  if (!byId('table-pane').open) return;
  const { state } = app;
  fillTable(byId('step-table'), ['thread', 'line', 'access', 'element', 'value', 'which is'], stepRows(state));
  const array = app.run.arrays[Number(byId('table-array').value)];
  fillTable(byId('array-table'), ...arrayRows(app, array));
}

function stepRows(state) {
  const { run } = state;
  return actingAccesses(state).slice(0, MOST_ROWS).map((a) => {
    const site = siteOf(run, a), array = arrayOf(run, a), offset = run.accesses.offset[a];
    const outside = isInside(array, offset) ? '' : ' (outside)';
    return [threadName(run, run.accesses.thread[a]), String(site.line || '–'), site.atomic ? 'atomic' : site.write ? 'store' : 'load',
            elementName(array, offset) + outside, valueText(run, a), originName(run, a) || '–'];
  });
}

/* Rows and columns as they are drawn: those in focus. */
function arrayRows({ state, scene }, array) {
  const head = [''], rows = [];
  for (let slice = 0; slice < array.slices; slice++) {
    const grid = gridOf(scene, array, slice);
    const cols = grid.cols.shown.filter((i) => isFocused(grid.cols, i)), lines = grid.rows.shown.filter((i) => isFocused(grid.rows, i));
    if (!slice) head.push(...cols.map(String));
    for (const row of lines.slice(0, MOST_ROWS))
      rows.push([(array.slices > 1 ? slice + ', ' : '') + row * grid.rows.unit,
                 ...cols.map((col) => textOfValue(valueAt(state, array, offsetOf(array, slice, row, col))))]);
  }
  return [head, rows];
}

const textOfValue = (value) => (value === undefined ? '–' : formatNumber(value));

function fillTable(table, head, rows) {
  const make = (tag, text, scope) => {
    const cell = element(tag, '', text);
    if (scope) cell.scope = scope;
    return cell;
  };
  const top = element('tr');
  top.append(...head.map((text) => (text === '' ? element('td') : make('th', text, 'col'))));
  const body = rows.map((row) => {
    const node = element('tr');
    node.append(...row.map((text, i) => (i ? make('td', text) : make('th', text, 'row'))));
    return node;
  });
  const thead = element('thead'), tbody = element('tbody');
  thead.append(top);
  tbody.append(...body);
  table.replaceChildren(table.caption, thead, tbody);
}
