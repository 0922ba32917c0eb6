'use strict';
// The report as one page: a list that only builds the rows in sight, filters, and the path of a finding drawn beside its
// source (pictures.js). Nothing is loaded; all text goes in as text, never as markup.

const report = JSON.parse(document.getElementById('data').textContent);
const ROW = 76;
const byId = (id) => document.getElementById(id);
const ranksOf = (finding) => [...new Set(finding.occurrences.map((each) => each.rank).filter((rank) => rank !== null))];
const stateOf = (finding) => finding.suppression ? 'suppressed' : finding.baseline || 'open';

// --- filters and list ---------------------------------------------------------------------------------------------

const filters = {
  rule: (finding) => [finding.rule, ...finding.also_rules],
  file: (finding) => [finding.location.file],
  api: (finding) => finding.api ? [finding.api] : [],
  rank: (finding) => ranksOf(finding).map((rank) => `rank ${rank}`),
  state: (finding) => [stateOf(finding)],
};
const all = { rule: 'All rules', file: 'All files', api: 'All APIs', rank: 'All ranks', state: 'Every state' };
let visible = [];
let picked = -1;
let rows = new Map();

function fillFilter(name) {
  const counts = new Map();
  for (const finding of report.findings) {
    for (const value of filters[name](finding)) counts.set(value, (counts.get(value) || 0) + 1);
  }
  const select = byId(name);
  select.append(new Option(all[name], ''));
  for (const [value, count] of [...counts].sort((a, b) => a[0] < b[0] ? -1 : 1)) {
    select.append(new Option(`${value} (${count})`, value));
  }
  select.hidden = [...counts.values()].every((count) => count === report.findings.length);  // nothing to choose
  select.addEventListener('change', applyFilters);
}

function applyFilters() {
  const words = byId('search').value.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = Object.keys(filters).map((name) => [name, byId(name).value]).filter(([, value]) => value);
  visible = report.findings.filter((finding) =>
    wanted.every(([name, value]) => filters[name](finding).includes(value)) &&
    words.every((word) => finding.haystack.includes(word)));
  byId('shown').textContent = `${visible.length} of ${report.findings.length}`;
  byId('space').style.height = `${visible.length * ROW}px`;
  byId('list').scrollTop = 0;
  for (const row of rows.values()) row.remove();
  rows.clear();
  showRows();
  pick(visible.length ? 0 : -1);
}

// Where the dtype changed, else what arrived at the call.
function turnOf(finding) {
  const step = finding.path.find((each) => each.before && each.before !== each.after);
  const operand = finding.operands.find((each) => finding.sinks.some((sink) => sink.role === each.role));
  return step ? [step.before, step.after] : ['', operand && operand.dtypes[0] || ''];
}

function rowOf(index) {
  const finding = visible[index];
  const closed = finding.suppression || finding.baseline === 'unchanged' || finding.baseline === 'fixed';
  const row = element('div', `row ${finding.level}${closed ? ' closed' : ''}${index === picked ? ' picked' : ''}`, '',
    element('b', '', finding.message),
    element('span', 'first', '', ...change(...turnOf(finding)), element('span', '', place(finding.location))),
    element('span', '', [finding.rule, finding.certainty, finding.location.function].filter(Boolean).join(' · ')));
  row.style.top = `${index * ROW}px`;
  row.addEventListener('click', () => pick(index));
  return row;
}

function showRows() {
  const list = byId('list');
  const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 4);
  const last = Math.min(visible.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + 4);
  for (const [index, row] of rows) {
    if (index >= first && index < last) continue;
    row.remove();
    rows.delete(index);
  }
  for (let index = first; index < last; ++index) {
    if (rows.has(index)) continue;
    const row = rowOf(index);
    rows.set(index, row);
    byId('space').append(row);
  }
}

function pick(index) {
  rows.get(picked)?.classList.remove('picked');
  picked = index;
  rows.get(picked)?.classList.add('picked');
  const detail = byId('detail');
  detail.replaceChildren(...(index < 0 ? [nothing()] : pageOf(visible[index])));
  detail.scrollTop = 0;
  drawPictures();
}

// Anew where lines wrap elsewhere.
function drawPictures() {
  const detail = byId('detail');
  for (const picture of detail.querySelectorAll('.way > svg, .code > svg')) picture.remove();
  for (const way of detail.querySelectorAll('.way')) drawPath(way, visible[picked]);
  for (const code of detail.querySelectorAll('.code')) drawMargin(code);
}

function nothing() {
  return element('p', 'empty', report.findings.length ? 'No finding fits these filters.' : 'No findings.');
}

function onKey(event) {
  const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
  if (!step || !visible.length) return;
  event.preventDefault();
  const list = byId('list');
  const next = Math.min(Math.max(picked + step, 0), visible.length - 1);
  if (next * ROW < list.scrollTop) list.scrollTop = next * ROW;
  if ((next + 1) * ROW > list.scrollTop + list.clientHeight) list.scrollTop = (next + 1) * ROW - list.clientHeight;
  showRows();
  pick(next);
}

// --- one finding --------------------------------------------------------------------------------------------------

function pageOf(finding) {
  const stops = stopsOf(finding);
  const parts = [
    element('h2', '', finding.message),
    element('p', 'place', '', element('span', 'level ' + finding.level, `${finding.certainty} ${finding.level} `),
      `${finding.rule} at ${place(finding.location)} ${finding.location.function ? 'in ' + finding.location.function : ''}`),
  ];
  if (finding.suppression) parts.push(element('p', '', `Suppressed: ${finding.suppression.reason || 'no reason given'}`));
  if (finding.baseline) parts.push(element('p', 'place', `Baseline: ${finding.baseline}`));
  if (finding.path.length || stops.some((stop) => stop.call)) parts.push(element('h3', '', 'The way of the dtype'), wayOf(finding, stops));
  const sources = sourcesOf(finding, stops);
  if (sources.length) parts.push(element('h3', '', 'Source'), ...sources);
  if (finding.fixes.length) parts.push(element('h3', '', 'Fix'), ...finding.fixes.map(fixOf));
  const facts = factsOf(finding);
  if (facts) parts.push(element('h3', '', 'Seen'), facts);
  for (const stack of finding.shown_stacks) parts.push(element('h3', '', `${stack.kind} stack`), stackOf(stack));
  const page = report.rules[finding.rule];
  if (page) parts.push(element('details', '', '', element('summary', '', `About ${finding.rule}`), element('pre', '', page)));
  return parts;
}

function follow(index, button) {
  for (const other of byId('detail').querySelectorAll('.picked')) other.classList.remove('picked');
  button.classList.add('picked');
  const line = byId('detail').querySelector(`.text[data-stops~="${index}"]`);
  if (!line) return;
  line.classList.add('picked');
  line.scrollIntoView({ block: 'center' });
}

// The lines around every stop, one box for each file, with a gap where lines are left out.
function sourcesOf(finding, stops) {
  const files = new Map();
  stops.forEach((stop, index) => {
    if (!stop.line || !report.sources[stop.file]) return;
    if (!files.has(stop.file)) files.set(stop.file, []);
    files.get(stop.file).push({ ...stop, index });
  });
  return [...files].map(([file, marks]) => sourceOf(file, marks));
}

function sourceOf(file, marks) {
  const lines = report.sources[file];
  const code = element('div', 'code');
  const wanted = new Set();
  for (const mark of marks) for (let n = mark.line - 3; n <= mark.line + 3; ++n) if (lines[n] !== undefined) wanted.add(n);
  let last = 0;
  for (const number of [...wanted].sort((a, b) => a - b)) {
    if (last && number > last + 1) code.append(element('div', 'gap', '⋯'));
    last = number;
    code.append(lineOf(number, lines[number], marks.filter((mark) => mark.line === number)));
  }
  return element('div', 'source', '', element('div', 'name', file), code);
}

function lineOf(number, text, marks) {
  const line = element('div', marks.length ? 'text on' : 'text');
  line.dataset.number = number;
  line.dataset.stops = marks.map((mark) => mark.index).join(' ');
  line.dataset.dtype = marks.length ? marks[marks.length - 1].after || marks[marks.length - 1].before : '';
  const first = marks.find((mark) => mark.column && mark.end_column > mark.column && mark.end_line === mark.line);
  if (first) {
    const bytes = new TextEncoder().encode(text);
    const part = (from, to) => new TextDecoder().decode(bytes.slice(from, to));
    const marked = element('mark', '', part(first.column - 1, first.end_column - 1));
    marked.style.borderColor = colour(first.after || first.before);
    line.append(part(0, first.column - 1), marked, part(first.end_column - 1));
  } else {
    line.append(text);
  }
  for (const dtype of new Set(marks.map((mark) => mark.after).filter(Boolean))) line.append(chip(dtype));
  return line;
}

// Native frames between Python's are there, and closed.
function stackOf(stack) {
  return element('div', 'stack', '', ...stack.rows.map((row) => {
    const frames = element('pre', '', row.frames.map(frameOf).join('\n'));
    return row.folded ? element('details', '', '', element('summary', '', row.folded), frames) : frames;
  }));
}

function frameOf(frame) {
  const at = frame.file ? `${frame.file}:${frame.line}` : `${frame.module} (+0x${frame.offset.toString(16)})`;
  return `${frame.function || '??'}  ${at}`;
}

function fixOf(fix) {
  const made = element('div', 'fix', '', element('div', '', fix.title + (fix.verified ? ' (analysed again: clean)' : '')));
  for (const edit of fix.edits) made.append(element('pre', '', `${edit.file}:${edit.line}: ${edit.replacement}`));
  return made;
}

function factsOf(finding) {
  const rowsOf = [['times', finding.count > 1 ? String(finding.count) : ''], ['ranks', ranksOf(finding).join(', ')],
    ['at run time', finding.runtime], ['precision settings', finding.precision.join(', ')],
    ['torch versions', finding.torch.join(', ')], ['also breaks', finding.also_rules.join(', ')],
    ['extra bytes', finding.extra_bytes ? `${finding.extra_bytes} per element` : ''], ['fingerprint', finding.fingerprint]];
  const made = rowsOf.filter(([, value]) => value)
    .map(([label, value]) => element('tr', '', '', element('th', '', label), element('td', '', value)));
  return made.length ? element('table', '', '', ...made) : null;
}

// --- start --------------------------------------------------------------------------------------------------------

function start() {
  document.title = `${report.tool} report`;
  byId('title').textContent = report.tool;
  byId('summary').textContent = report.summary;
  const missing = report.not_analysed;
  byId('missing').hidden = missing.length === 0;
  byId('missing').append(element('summary', '', 'not analysed'), ...missing.map((each) => element('p', '', each)));
  const theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  document.documentElement.dataset.theme = theme;
  byId('theme').addEventListener('click', () => {
    const root = document.documentElement.dataset;
    root.theme = root.theme === 'dark' ? 'light' : 'dark';
  });
  for (const finding of report.findings) {
    finding.haystack = [finding.message, finding.rule, finding.location.file, finding.location.function, finding.api]
      .join(' ').toLowerCase();
  }
  const kinds = { half: 'float16', brain: 'bfloat16', wide: 'float32 and wider', tiny: 'float8', whole: 'integers, bool' };
  for (const [kind, name] of Object.entries(kinds)) byId('legend').append(element('span', 'key ' + kind), name);
  Object.keys(filters).forEach(fillFilter);
  byId('search').addEventListener('input', applyFilters);
  byId('filters').addEventListener('submit', (event) => event.preventDefault());
  byId('list').addEventListener('scroll', showRows, { passive: true });
  byId('list').addEventListener('keydown', onKey);
  addEventListener('resize', () => {
    showRows();
    drawPictures();
  });
  applyFilters();
}
start();
