// The page's style sheet.
#pragma once

#include <string_view>

inline constexpr std::string_view page_style = R"css(
:root {
  color-scheme: light dark;
  --text: #1f2328; --soft: #59636e; --line: #d1d9e0; --panel: #f6f8fa; --link: #0550ae; --back: #ffffff;
}
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --soft: #9aa4af; --line: #3d444d; --panel: #161b22; --link: #79b8ff; --back: #0d1117; }
  .chart img { filter: invert(1) hue-rotate(180deg); }
}
body {
  max-width: 70rem; margin: 0 auto; padding: 1rem;
  font: 1rem/1.5 system-ui, sans-serif; color: var(--text); background: var(--back);
}
h1, h2 { line-height: 1.25; }
section { margin-top: 3rem; border-top: 1px solid var(--line); }
a { color: var(--link); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.25rem 1rem; }
dt { grid-column: 1; color: var(--soft); }
dd { grid-column: 2; margin: 0; overflow-wrap: anywhere; }
pre { padding: 0.75rem; background: var(--panel); overflow-x: auto; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; }
caption { max-width: calc(100vw - 2rem); text-align: left; padding: 0.5rem 0; font-weight: bold; }
th, td { padding: 0.3rem 0.75rem; border-bottom: 1px solid var(--line); vertical-align: baseline; }
th { text-align: right; font-weight: normal; white-space: nowrap; }
thead th { color: var(--soft); white-space: pre; }
td { text-align: right; font-family: ui-monospace, monospace; font-size: 0.9rem; white-space: pre; }
th:first-child, th:last-child, td:last-child { text-align: left; }
td:last-child { font: inherit; white-space: normal; min-width: 8rem; }
#summary :is(th, td):is(:nth-child(2), :nth-child(3)) { text-align: left; }
#summary td:is(:nth-child(2), :nth-child(3)) { min-width: 11rem; font: inherit; white-space: normal; }
.note { color: var(--soft); }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 1rem; }
figure { margin: 0; }
.chart { grid-column: 1 / -1; }
.image { overflow-x: auto; }
img { max-width: 100%; height: auto; }
.image img:focus { max-width: none; }
.image figcaption::after { content: " (click the image for its full size)"; }
figcaption { color: var(--soft); overflow-wrap: anywhere; }
)css";
