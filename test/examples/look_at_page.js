// Compares the page that it stands in with the files that the page was made of, and replaces the page by what is wrong,
// or by "all is shown".

function look_at_page() {
  const wrong = [];
  const expect_equal = (actual, expected, what) => {
    const [is, should_be] = [JSON.stringify(actual), JSON.stringify(expected)];
    if (is !== should_be) wrong.push(`${what}: ${is}, not ${should_be}`);
  };
  const text_of = (elements) => [...elements].map((element) => element.textContent);

  const reports = [];  // each with the names of its pictures
  for (const text of text_of(document.querySelectorAll('script[type="application/json"]'))) {
    const content = JSON.parse(text);
    if (typeof content === 'string') reports.at(-1).pictures.push(content);
    else reports.push({...content, pictures: []});
  }

  const [summary, ...sections] = document.querySelectorAll('section');
  expect_equal(sections.length, reports.length, 'sections');
  const summary_rows = summary.querySelectorAll('tbody tr');
  expect_equal(summary_rows.length, reports.length, 'rows of the summary');

  reports.forEach((report, i) => {
    const section = sections[i];
    expect_equal(section.querySelector('h2').textContent, report.program, 'a heading');
    const summary_cells = text_of(summary_rows[i].cells);
    expect_equal(summary_cells.slice(0, 2), [report.program, report.problem], 'the summary');
    expect_equal(report.rows.filter((row) => row.name === summary_cells[2] && row.correct).length,
                 report.rows.length > 0 ? 1 : 0, `rows of the fastest name of ${report.program}`);
    expect_equal(summary_rows[i].querySelector('a').hash, `#${section.id}`, `the link to ${report.program}`);
    const [headings, ...rows] = report.table.lines;
    const [first, last] = ['variant', 'result'];  // these headings are empty in the terminal
    const table = section.querySelector('table');
    expect_equal(table.caption.textContent, report.table.caption, `the caption of ${report.program}`);
    expect_equal(text_of(table.tHead.rows[0].cells), [first, ...headings.slice(1, -1), last], 'the headings');
    expect_equal([...table.tBodies[0].rows].map((row) => text_of(row.cells)), rows, `the rows of ${report.program}`);
    expect_equal(text_of(section.querySelectorAll('.note')), report.table.notes, `the notes of ${report.program}`);
    expect_equal(text_of(section.querySelectorAll('figcaption')), report.pictures, `the pictures of ${report.program}`);
    for (const word of report.command) {
      if (!section.querySelector('code').textContent.includes(word.replaceAll("'", "'\\''")))
        wrong.push(`the command of ${report.program} lacks ${word}`);
    }
  });

  for (const element of document.querySelectorAll('table, img, h2, code')) {
    if (element.offsetWidth === 0 || element.offsetHeight === 0) wrong.push(`invisible: ${element.outerHTML}`);
  }
  for (const image of document.images) {
    if (image.naturalWidth < 10 || image.alt === '') wrong.push(`not drawn: ${image.alt}`);
  }
  if (document.querySelector('th:not([scope])')) wrong.push('a heading of a table has no scope');
  const pictures = reports.flatMap((report) => report.pictures);
  expect_equal(document.images.length, pictures.length, 'pictures');
  expect_equal(document.scripts.length, reports.length + pictures.length + 1, 'scripts');
  if (document.documentElement.scrollWidth > window.innerWidth) wrong.push('the page scrolls sideways');
  return wrong;
}

window.addEventListener('load', () => {
  let found;
  try {
    found = look_at_page();
  } catch (error) {
    found = [String(error)];
  }
  document.documentElement.textContent = found.join('\n') || 'all is shown';
});
