// A visitor of the HTML report, put behind its script by html_check.py: opens it, filters, follows a path, scrolls, and
// leaves what it saw in the page for the test to read.
(function () {
  const saw = { errors: window.visitErrors, total: report.findings.length };
  const rows = () => document.querySelectorAll('#list .row').length;
  const shown = () => Number(document.getElementById('shown').textContent.split(' ')[0]);
  const choose = (id, value) => {
    const select = document.getElementById(id);
    select.value = value;
    select.dispatchEvent(new Event('change'));
  };
  saw.rows = rows();
  saw.first = document.querySelector('#list .row').className;
  saw.heading = document.querySelector('#detail h2').textContent;
  saw.stops = document.querySelectorAll('#detail .stop').length;
  saw.marked = document.querySelectorAll('#detail .text.on').length;
  saw.drawn = document.querySelectorAll('#detail .code svg path').length;
  saw.ribbons = [...document.querySelectorAll('#detail .way > svg path')].map((path) => getComputedStyle(path).stroke);
  saw.operands = [...document.querySelectorAll('#detail .operand')].map((row) => [row.dataset.role, row.classList.contains('bad')]);
  saw.outside = performance.getEntriesByType('resource').map((entry) => entry.name);
  saw.unsafe = document.querySelectorAll('b:not(.row b):not(.stop b):not(.operand b)').length;
  const second = document.querySelectorAll('#detail .stop')[1];
  if (second) {
    second.click();
    const followed = document.querySelector('#detail .text.picked');
    saw.followed = followed ? Number(followed.dataset.number) : 0;
  }
  saw.filtered = {};
  for (const id of ['rule', 'file', 'api', 'rank', 'state']) {
    const options = document.getElementById(id).options;
    if (document.getElementById(id).hidden) continue;
    const value = options[1].value;
    choose(id, value);
    saw.filtered[id] = { shown: shown(), said: Number(options[1].text.match(/\((\d+)\)$/)[1]), rows: rows() };
    choose(id, '');
  }
  const search = document.getElementById('search');
  search.value = 'no such finding anywhere';
  search.dispatchEvent(new Event('input'));
  saw.nothing = { shown: shown(), text: document.getElementById('detail').textContent };
  search.value = '';
  const best = (work) => Math.min(...Array.from({ length: 5 }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  }));
  saw.filter_ms = best(() => search.dispatchEvent(new Event('input')));
  const list = document.getElementById('list');
  saw.scroll_ms = best(() => {
    list.scrollTop = 0;
    showRows();
    list.scrollTop = list.scrollHeight;
    showRows();
  });
  saw.print_ms = best(() => JSON.stringify(report));
  saw.rows_at_end = rows();
  list.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown' }));
  saw.picked = picked;
  list.scrollTop = 0;
  showRows();
  const theme = document.documentElement.dataset.theme;
  const colour = () => getComputedStyle(document.body).backgroundColor;
  const lit = colour();
  document.getElementById('theme').click();
  saw.theme = theme !== document.documentElement.dataset.theme && lit !== colour();
  document.getElementById('theme').click();
  const result = document.createElement('script');
  result.type = 'application/json';
  result.id = 'visit';
  result.textContent = JSON.stringify(saw).replace(/</g, '\\u003c');
  document.body.append(result);
})();
