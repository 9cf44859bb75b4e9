"""The style of the page, inline: light and dark as the reader's system is, and printable."""

STYLE = """
:root { color-scheme: light dark; --ink: #1c2330; --soft: #5b6678; --paper: #fff; --tint: #f4f6f9;
  --line: #dde2ea; --disk: #4878b8; --memory: #e0a63c; --deltas: #c0504d; --profile: #9fb4d1;
  --plain: #cfd8e6; --accent: #2a5ea8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ef; --soft: #98a3b5; --paper: #14181f;
  --tint: #1d232d; --line: #323b49; --disk: #5b8fd6; --memory: #d9a441; --deltas: #d9675f;
  --profile: #3d5375; --plain: #364357; --accent: #86b3f0; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.5rem 4rem; max-width: 70rem; color: var(--ink);
  background: var(--paper); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; padding-top: 1rem;
  border-top: 1px solid var(--line); overflow-wrap: anywhere; }
h3 { font-size: 1rem; margin: 1.5rem 0 .4rem; }
p { margin: .3rem 0; } .soft { color: var(--soft); } a { color: var(--accent); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line);
  vertical-align: baseline; }
th { color: var(--soft); font-weight: 600; font-size: .85rem; }
td.number, th.number { text-align: right; white-space: nowrap; }
td.name { font-weight: 600; min-width: 9rem; overflow-wrap: anywhere; }
td.name .soft { font-weight: 400; }
td.bar { width: 24%; min-width: 7rem; }
.bar svg { display: block; width: 100%; height: .8rem; }
dl.sums { display: flex; flex-wrap: wrap; gap: .5rem 2.5rem; margin: 1rem 0 0; }
dl.sums div { min-width: 6rem; } dt { color: var(--soft); font-size: .85rem; }
dd { margin: 0; font-size: 1.25rem; font-weight: 600; font-variant-numeric: tabular-nums; }
pre { background: var(--tint); border: 1px solid var(--line); border-radius: 4px; padding: .75rem;
  overflow-x: auto; font-size: .85rem; line-height: 1.4; }
code { font-family: ui-monospace, monospace; font-size: .9em; }
details { margin: .6rem 0; } summary { cursor: pointer; color: var(--accent); }
.tablet { margin: 1rem 0 1.5rem; }
.tablet p { display: flex; flex-wrap: wrap; gap: 0 1.2rem; }
svg.layout { display: block; width: 100%; height: auto; margin-top: .4rem; }
.disk { fill: var(--disk); } .memory { fill: var(--memory); } .deltas { fill: var(--deltas); }
.profile { fill: var(--profile); } .plain { fill: var(--plain); }
svg .label { fill: #fff; font: 600 12px system-ui, sans-serif; }
svg .on-memory { fill: #1c2330; }
svg .axis { fill: var(--soft); font: 12px system-ui, sans-serif; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; color: var(--soft);
  font-size: .85rem; }
.legend svg { width: .8rem; height: .8rem; vertical-align: -.1rem; margin-right: .35rem; }
ul.advice { padding-left: 1.2rem; } ul.advice li { margin: .5rem 0; }
@media print { body { max-width: none; padding: 0; font-size: 11px; } .tablet, tr { break-inside:
  avoid; } h2 { break-after: avoid; } a { color: inherit; text-decoration: none; } }
"""
