'use strict';
/* The page is whole without this script. It adds: the words of the cell below
   the pointer or the arrow keys, the search, and tables that sort. */
(function () {
var units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
function bytes(value) {
  var sign = value < 0 ? '-' : '', unit = 0;
  value = Math.abs(value);
  while (value >= 999.5 && unit < units.length - 1) { value /= 1000; unit++; }
  return sign + Number(value.toPrecision(3)) + ' ' + units[unit];
}

/* --- heat maps --- */
function read(svg) {
  var data = svg.nodewise;
  if (data) return data;
  data = svg.nodewise = { cells: {}, ranks: null };
  data.count = Number(svg.dataset.count);
  data.bin = Number(svg.dataset.bin);
  data.square = svg.dataset.heat.split(' ').map(Number);
  data.unit = svg.dataset.unit;
  if (svg.dataset.ranks) data.ranks = svg.dataset.ranks.split(' ');
  (svg.dataset.cells || '').split(';').forEach(function (words) {
    var cell = words.split(' ').map(Number);
    if (cell.length > 4) data.cells[cell[0] * data.count + cell[1]] = cell;
  });
  return data;
}
function ranks(data, place) {
  var first = place * data.bin, list;
  if (!data.ranks) return 'places ' + first + ' to ' + (first + data.bin - 1);
  list = data.ranks.slice(first, first + data.bin);
  if (list.length === 1) return 'rank ' + list[0];
  return 'ranks ' + list.slice(0, 4).join(', ') +
    (list.length > 4 ? ' and ' + (list.length - 4) + ' more' : '');
}
function links(data, cell) {
  var low = cell[3], high = cell[4], range = low === high ? low : low + ' to ' + high;
  return data.unit === 'link' ? range + (high === 1 ? ' link' : ' links') : 'distance ' + range;
}
function words(svg, row, column) {
  var data = read(svg), cell = data.cells[row * data.count + column], before, after;
  if (svg.dataset.before) {
    before = document.getElementById(svg.dataset.before);
    after = document.getElementById(svg.dataset.after);
    return 'before: ' + words(before, row, column) + '; after: ' + words(after, row, column);
  }
  return ranks(data, row) + ' -> ' + ranks(data, column) + ': ' +
    (cell ? bytes(cell[2]) + ', ' + links(data, cell) : 'nothing');
}
function show(svg, row, column) {
  var data = read(svg), side = data.square[2] / data.count, cursor = svg.querySelector('.cursor');
  row = Math.max(0, Math.min(data.count - 1, row));
  column = Math.max(0, Math.min(data.count - 1, column));
  if (!cursor) {
    cursor = document.createElementNS(svg.namespaceURI, 'rect');
    cursor.setAttribute('class', 'cursor');
    svg.appendChild(cursor);
  }
  cursor.setAttribute('x', data.square[0] + column * side);
  cursor.setAttribute('y', data.square[1] + row * side);
  cursor.setAttribute('width', side);
  cursor.setAttribute('height', side);
  svg.nodewiseAt = [row, column];
  svg.parentNode.querySelector('output').textContent = words(svg, row, column);
}
function pointed(svg, event) {
  var data = read(svg), at = new DOMPoint(event.clientX, event.clientY)
    .matrixTransform(svg.getScreenCTM().inverse());
  var row = Math.floor((at.y - data.square[1]) / data.square[2] * data.count);
  var column = Math.floor((at.x - data.square[0]) / data.square[2] * data.count);
  if (Math.min(row, column) >= 0 && Math.max(row, column) < data.count) show(svg, row, column);
}
var moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
document.querySelectorAll('svg[data-heat]').forEach(function (svg) {
  svg.setAttribute('tabindex', '0');
  svg.setAttribute('aria-label', svg.querySelector('title').textContent +
    '. The arrow keys move over its cells.');
  ['pointermove', 'pointerdown'].forEach(function (name) {
    svg.addEventListener(name, function (event) { pointed(svg, event); });
  });
  svg.addEventListener('focus', function () {
    if (!svg.nodewiseAt && svg.matches(':focus-visible')) show(svg, 0, 0);
  });
  svg.addEventListener('keydown', function (event) {
    var move = moves[event.key], at = svg.nodewiseAt || [0, 0];
    if (!move) return;
    event.preventDefault();
    show(svg, at[0] + move[0], at[1] + move[1]);
  });
  svg.parentNode.querySelector('output').textContent =
    'Point at a cell, or select the map and use the arrow keys.';
});

/* --- the table of ranks --- */
var search = document.getElementById('search'), found = document.getElementById('found');
var rows = Array.prototype.slice.call(document.querySelectorAll('#rank-table tbody tr'));
function matches(row, want) {
  return Array.prototype.some.call(row.cells, function (cell, i) {
    var text = cell.textContent.toLowerCase();
    return i ? text.includes(want) : text === want;
  });
}
search.parentNode.hidden = false;
search.addEventListener('input', function () {
  var want = search.value.trim().toLowerCase().replace(/^rank */, ''), count = 0;
  rows.forEach(function (row) {
    row.hidden = want !== '' && !matches(row, want);
    count += row.hidden ? 0 : 1;
  });
  found.textContent = want === '' ? '' : count + ' of ' + rows.length + ' ranks';
});
function sort(table, column, down) {
  var body = table.tBodies[0];
  Array.prototype.slice.call(body.rows).sort(function (a, b) {
    return (down ? -1 : 1) * a.cells[column].textContent
      .localeCompare(b.cells[column].textContent, 'en', { numeric: true });
  }).forEach(function (row) { body.appendChild(row); });
}
document.querySelectorAll('table.sortable').forEach(function (table) {
  Array.prototype.forEach.call(table.tHead.rows[0].cells, function (cell, column) {
    var button = document.createElement('button');
    button.className = 'sort';
    button.textContent = cell.textContent;
    cell.textContent = '';
    cell.appendChild(button);
    button.addEventListener('click', function () {
      var down = cell.getAttribute('aria-sort') === 'ascending';
      Array.prototype.forEach.call(table.tHead.rows[0].cells, function (other) {
        other.removeAttribute('aria-sort');
      });
      cell.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      sort(table, column, down);
    });
  });
});
}());
