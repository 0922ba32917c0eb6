// Put behind the page's script by html_check.py: makes lines of source and a message long and leaves in the page what is wider
// than the window then.
(function () {
  const word = 'attention_with_a_name_that_has_no_place_to_break_'.repeat(8);
  const finding = visible[0];
  const file = finding.location.file;
  const lines = report.sources[file];
  for (const number of Object.keys(lines)) lines[number] += ` # ${word} ${'and words that have such places '.repeat(12)}`;
  finding.message += ` ${word}`;
  pick(0);
  const wider = (parent) => parent.scrollWidth > parent.clientWidth + 1;
  const name = (one) => `${one.tagName.toLowerCase()}.${one.getAttribute('class') || one.id}`;
  const texts = [...document.querySelectorAll('#detail .code .text')];
  const saw = {
    errors: window.visitErrors,
    width: innerWidth,
    page: wider(document.documentElement),
    scrolled: [...document.querySelectorAll('body, header, #filters, main, #detail, #detail .source, #detail .code')].filter(wider).map(name),
    outside: [...document.querySelectorAll('#detail *')].filter((one) => one.getBoundingClientRect().right > innerWidth + 1).map(name),
    lines: texts.length,
    heights: texts.map((one) => Math.round(one.getBoundingClientRect().height)),
  };
  const result = document.createElement('script');
  result.type = 'application/json';
  result.id = 'visit';
  result.textContent = JSON.stringify(saw).replace(/</g, '\\u003c');
  document.body.append(result);
})();
