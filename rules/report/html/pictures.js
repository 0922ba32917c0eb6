'use strict';
// The pictures: the way of a dtype from operator to operator into the operands of the call, and the same way in the margin
// of the source. Both are drawn once their rows stand in the page and have a height.

const RIBBON = 22;  // where the ribbon runs, from the left edge of the way
const LINE = 22;    // the height of a line of source; a long one is several of them

function element(tag, classes, text, ...children) {
  const made = document.createElement(tag);
  if (classes) made.className = classes;
  if (text) made.textContent = text;
  made.append(...children);
  return made;
}

function drawn(tag, attributes, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// One colour for each kind of dtype, so that a path shows at a glance where it turns wide.
function shade(dtype) {
  if (/^(float64|float32|complex)/.test(dtype)) return 'wide';
  if (/^float16/.test(dtype)) return 'half';
  if (/^bfloat16/.test(dtype)) return 'brain';
  if (/^float[48]/.test(dtype)) return 'tiny';
  return dtype ? 'whole' : 'none';
}
const chip = (dtype) => element('span', 'chip ' + shade(dtype), dtype);
const colour = (dtype) => `var(--${shade(dtype)})`;
const spaced = (dtypes) => dtypes.flatMap((dtype) => [chip(dtype), ' ']);
const place = (at) => at.line ? `${at.file}:${at.line}` : at.file || '(unknown place)';
const change = (before, after) =>
  before && after && before !== after ? [chip(before), element('span', 'turns', '→'), chip(after)] : spaced([after || before].filter(Boolean));

// The steps of the path and behind them the calls it ends in. The last step is the call's own, where it stands at one.
function stopsOf(finding) {
  const calls = finding.sinks.map((sink) => {
    const operand = finding.operands.find((each) => each.role === sink.role);
    return { ...sink, call: true, before: '', after: operand ? operand.dtypes.join(' or ') : '', note: '' };
  });
  if (!calls.length && finding.operands.length) {
    calls.push({ ...finding.location, api: finding.api || 'the call', role: '', call: true, before: '', after: '', note: '' });
  }
  const stops = finding.path.map((step) => ({ ...step, title: step.note || step.operator }));
  const last = stops[stops.length - 1];
  const same = last && calls.find((call) => call.file === last.file && call.line === last.line && last.operator === call.api);
  if (same) {
    stops.pop();
    Object.assign(same, { ...last, ...same, end_line: last.end_line, end_column: last.end_column, note: last.note });
  }
  if (!stops.length && !calls.length && finding.location.line) {
    stops.push({ ...finding.location, before: '', after: '', operator: '', title: finding.rule });
  }
  return [...stops, ...calls];
}

// --- from operator to operator to the call ------------------------------------------------------------------------

function wayOf(finding, stops) {
  const way = element('div', 'way');
  const shown = new Set();
  stops.forEach((stop, index) => {
    const name = `${stop.api} ${place(stop)}`;
    if (stop.call && shown.has(name)) return;
    if (stop.call) shown.add(name);
    way.append(stop.call ? callOf(finding, stop, index, shown.size === 1) : stopOf(stop, index, stop.title));
  });
  return way;
}

function stopOf(stop, index, title) {
  const turns = stop.before && stop.after && stop.before !== stop.after;
  const button = element('button', turns ? 'stop turn' : 'stop', '', element('b', '', title),
    element('span', 'where', [place(stop), stop.function].filter(Boolean).join(' · ')));
  if (!stop.call) button.append(element('span', 'change', '', ...change(stop.before, stop.after)));
  button.type = 'button';
  Object.assign(button.dataset, { stop: index, before: stop.before, after: stop.after });
  button.addEventListener('click', () => follow(index, button));
  return button;
}

// The call, with an opening for each operand: what arrives there, and what would fit.
function callOf(finding, stop, index, withOperands) {
  const call = element('div', 'call', '', stopOf(stop, index, stop.api));
  const said = /which stops with "(.*)"$/.exec(stop.note);
  if (said) call.append(element('p', 'says', said[1]));
  const wrong = new Set(finding.sinks.map((sink) => sink.role));
  for (const operand of withOperands ? finding.operands : []) {
    const bad = wrong.has(operand.role) || operand.dtypes.some((dtype) => operand.accepts.length && !operand.accepts.includes(dtype));
    const row = element('div', bad ? 'operand bad' : 'operand', '', element('b', '', operand.role),
      element('span', 'has', '', ...spaced(operand.dtypes)), element('i', '', bad ? '✗' : '✓'),
      element('span', 'takes', '', operand.accepts.length ? 'takes ' : '', ...spaced(operand.accepts)),
      element('span', 'where', [operand.shape.join(' × '), operand.device].filter(Boolean).join(' · ')));
    Object.assign(row.dataset, { role: operand.role, dtype: operand.dtypes[0] || '' });
    call.append(row);
  }
  return call;
}

function drawPath(way, finding) {
  const picture = drawn('svg', { width: way.clientWidth, height: way.clientHeight });
  const ribbon = (d, dtype) => picture.append(
    drawn('path', { d, fill: 'none', 'stroke-width': 7, 'stroke-linecap': 'round', style: `stroke: ${colour(dtype)}` }));
  const inWay = (each) => each.getBoundingClientRect().top - way.getBoundingClientRect().top;
  const steps = [...way.querySelectorAll(':scope > .stop')].map((stop) => (
    { y: inWay(stop) + stop.offsetHeight / 2, turn: stop.classList.contains('turn'), ...stop.dataset }));
  const role = finding.sinks.length ? finding.sinks[0].role : '';
  const travels = steps.length ? steps[steps.length - 1].after : '';
  if (steps.length && steps[0].before) ribbon(`M${RIBBON} ${steps[0].y - 26} V${steps[0].y}`, steps[0].before);
  steps.forEach((step, index) => {
    if (index) ribbon(`M${RIBBON} ${steps[index - 1].y} V${step.y}`, steps[index - 1].after || step.before);
  });
  let below = steps.length ? steps[steps.length - 1].y : 0;
  for (const row of way.querySelectorAll('.operand')) {
    const y = inWay(row) + row.offsetHeight / 2;
    const edge = row.getBoundingClientRect().left - way.getBoundingClientRect().left;
    const arrives = row.dataset.role === role && steps.length;
    ribbon(arrives ? `M${RIBBON} ${below} V${y - 12} Q${RIBBON} ${y} ${RIBBON + 12} ${y} H${edge}` : `M${RIBBON + 18} ${y} H${edge}`,
      arrives ? travels || row.dataset.dtype : row.dataset.dtype);
  }
  for (const call of way.querySelectorAll('.call')) {  // a further call has no operands of its own to enter
    if (call.querySelector('.operand') || !steps.length) continue;
    const y = inWay(call) + call.offsetHeight / 2;
    ribbon(`M${RIBBON} ${below} V${y - 12} Q${RIBBON} ${y} ${RIBBON + 12} ${y} H${RIBBON + 26}`, travels);
    below = Math.max(below, 0);
  }
  steps.forEach((step) => picture.append(...numbered(RIBBON, step.y, Number(step.stop) + 1, step.after || step.before, step.turn ? 13 : 10)));
  way.prepend(picture);
}

function numbered(x, y, number, dtype, radius) {
  return [drawn('circle', { cx: x, cy: y, r: radius, class: 'dot', style: `fill: ${colour(dtype)}` }),
    drawn('text', { x, y: y + 4, class: 'number' }, String(number))];
}

// --- in the margin of the source ----------------------------------------------------------------------------------

function drawMargin(code) {
  const rows = [...code.querySelectorAll('.text.on')].map((line) => (
    { y: line.offsetTop + LINE / 2, dtype: line.dataset.dtype, stops: line.dataset.stops.split(' ').map(Number) }));
  const points = rows.flatMap((row) => row.stops.map((stop) => ({ ...row, stop }))).sort((a, b) => a.stop - b.stop);
  const picture = drawn('svg', { width: 78, height: code.offsetHeight });
  points.forEach((point, index) => {
    const next = points[index + 1];
    if (!next || next.y === point.y) return;
    const reach = 30 - Math.min(24, 8 + 4 * (index % 5));  // neighbours bend to different depths
    const style = `stroke: ${colour(point.dtype)}`;
    picture.append(drawn('path', { class: 'bend', style, d: `M44 ${point.y} C${reach} ${point.y}, ${reach} ${next.y}, 40 ${next.y}` }),
      drawn('path', { class: 'bend', style, d: `M34 ${next.y - 5} L41 ${next.y} L34 ${next.y + 5}` }));
  });
  for (const row of rows) {
    const label = row.stops.length > 1 ? `${Math.min(...row.stops) + 1}–${Math.max(...row.stops) + 1}` : String(row.stops[0] + 1);
    const wide = label.length > 2 ? 32 : 20;
    picture.append(drawn('rect', { x: 42, y: row.y - 9, width: wide, height: 18, rx: 9, style: `fill: ${colour(row.dtype)}` }),
      drawn('text', { x: 42 + wide / 2, y: row.y + 4, class: 'number' }, label));
  }
  code.append(picture);
}
