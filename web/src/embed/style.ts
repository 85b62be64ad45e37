/**
 * A style sheet created in JavaScript, so that the content security policy of the page need not allow inline
 * styles.
 */
export function createSheet(): CSSStyleSheet {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(styles)
  return sheet
}

const styles = `
:host {
  all: initial;
  --accent: #3f5bd9;
  --on-accent: #fff;
  --surface: #fff;
  --text: #1d1f1c;
  --soft: color-mix(in srgb, var(--accent) 9%, var(--surface));
  --quiet: #f4f4f0;
  --border: #dedfda;
  --line: #92958e;
  --muted: #5c605a;
  --problem: #b3261e;
  position: fixed;
  right: 20px;
  bottom: 20px;
  z-index: 2147483000;
  font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif;
  color: var(--text);
}
:host([data-theme='dark']) {
  --accent: #7189f2;
  --on-accent: #0d1020;
  --surface: #1b1e1a;
  --text: #e9ebe6;
  --soft: color-mix(in srgb, var(--accent) 20%, var(--surface));
  --quiet: #21241f;
  --border: #333932;
  --line: #6a7167;
  --muted: #a7aca3;
  --problem: #f2918a;
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
button { font: inherit; cursor: pointer; border: 0; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.opener {
  display: grid;
  place-items: center;
  width: 56px;
  height: 56px;
  border-radius: 50%;
  background: var(--accent);
  box-shadow: 0 6px 24px rgb(0 0 0 / 25%);
}
.opener svg { width: 26px; fill: var(--on-accent); }
.panel {
  position: relative;
  display: flex;
  flex-direction: column;
  width: min(380px, calc(100vw - 40px));
  height: min(560px, calc(100dvh - 40px));
  overflow: hidden;
  border: 1px solid var(--border);
  border-radius: 16px;
  background: var(--surface);
  box-shadow: 0 12px 40px rgb(0 0 0 / 25%);
}
header {
  display: flex;
  gap: 8px;
  align-items: center;
  padding: 12px 16px;
  background: var(--accent);
  color: var(--on-accent);
}
header .title { flex: 1; margin: 0; font: inherit; font-weight: 700; overflow-wrap: anywhere; }
.face { width: 28px; height: 28px; flex: none; }
header button { display: grid; place-items: center; width: 36px; height: 36px; padding: 0; border-radius: 9px; background: none; color: inherit; }
.icon { width: 20px; height: 20px; }
.log { flex: 1; overflow-y: auto; padding: 16px; display: flex; flex-direction: column; gap: 10px; }
.line { max-width: 88%; padding: 8px 12px; border-radius: 12px; overflow-wrap: anywhere; }
.human { align-self: flex-end; background: var(--soft); white-space: pre-wrap; }
.plain { white-space: pre-wrap; }
.ai { align-self: flex-start; max-width: 100%; padding-inline: 0; }
.ai > .part > * { margin: 0 0 8px; }
.ai > .part > :is(h1, h2, h3, h4, h5, h6) {
  margin: 18px 0 6px;
  font-size: 1em;
  font-weight: 650;
  line-height: 1.3;
  text-wrap: balance;
}
.ai > .part > h1 { font-size: 1.25em; }
.ai > .part > h2 { font-size: 1.125em; }
.ai > .part > :is(h4, h5, h6) { color: var(--muted); }
.ai > .part:first-child > :first-child { margin-top: 0; }
.ai :is(ul, ol) { padding-inline-start: 1.5em; }
.ai li + li, .ai li > :is(ul, ol) { margin-top: 4px; }
.ai li:dir(rtl) { margin-right: 1.5em; margin-left: -1.5em; }
.ai li::marker { color: var(--muted); }
.ai ul:has(> li > input) { padding-inline-start: 0; list-style: none; }
.ai blockquote { padding-inline-start: 12px; border-inline-start: 2px solid var(--border); color: var(--muted); }
.ai blockquote > * { margin: 0; }
.ai hr { border: 0; border-top: 1px solid var(--border); }
.ai code { font: 0.875em ui-monospace, 'SF Mono', 'Cascadia Code', 'DejaVu Sans Mono', monospace; }
.ai :not(pre) > code { padding: 1px 5px; border-radius: 5px; background: var(--quiet); }
.table {
  overflow-x: auto;
  background:
    linear-gradient(to right, var(--surface) 40%, transparent) left / 40px 100% local,
    linear-gradient(to left, var(--surface) 40%, transparent) right / 40px 100% local,
    linear-gradient(to right, var(--border), transparent) left / 14px 100% scroll,
    linear-gradient(to left, var(--border), transparent) right / 14px 100% scroll;
  background-repeat: no-repeat;
}
.table table { border-collapse: collapse; font-size: 14px; overflow-wrap: normal; }
.table :is(th, td) { padding: 6px 16px 6px 0; border-bottom: 1px solid var(--border); text-align: start; vertical-align: top; }
.table [align='right'] { text-align: right; font-variant-numeric: tabular-nums; }
.table td[align='right'] { white-space: nowrap; }
.table [align='center'] { text-align: center; }
.ai pre { overflow-x: auto; padding: 10px 12px; border: 1px solid var(--border); border-radius: 9px; background: var(--quiet); line-height: 1.5; }
.ai a { color: var(--accent); }
button.mark, span.mark {
  min-width: 24px;
  height: 24px;
  padding: 0 6px;
  margin: 0 2px;
  border-radius: 12px;
  background: var(--soft);
  color: var(--text);
  font-size: 12px;
  font-weight: 600;
  line-height: 24px;
  text-align: center;
}
.source {
  position: absolute;
  inset: auto 0 0;
  display: flex;
  flex-direction: column;
  max-height: 75%;
  border-top: 1px solid var(--border);
  border-radius: 16px 16px 0 0;
  background: var(--surface);
  box-shadow: 0 -6px 24px rgb(0 0 0 / 20%);
}
.source-head { display: flex; gap: 8px; align-items: center; padding: 10px 10px 10px 16px; }
.source-head button { padding: 4px 8px; background: none; color: inherit; font-size: 22px; line-height: 1; }
.names { flex: 1; display: flex; flex-direction: column; min-width: 0; overflow-wrap: anywhere; }
.names span { font-size: 13px; }
.passage { overflow-y: auto; padding: 0 16px 16px; white-space: pre-line; overflow-wrap: anywhere; }
mark { background: #ffe27a; color: #1d1f1c; }
.thinking { align-self: flex-start; max-width: 88%; color: var(--muted); font-size: 13px; }
.thinking summary { cursor: pointer; }
.thought { padding: 6px 0 0 14px; white-space: pre-wrap; overflow-wrap: anywhere; }
.busy::after { content: '…'; }
.problem { color: var(--problem); }
.thumbs { display: flex; gap: 4px; margin-top: 6px; }
.thumbs button { padding: 2px 6px; border: 0; border-radius: 8px; background: none; color: inherit; font: inherit; font-size: 14px; cursor: pointer; opacity: 0.7; }
.thumbs button:hover, .thumbs button:focus-visible { opacity: 1; background: var(--hover, rgb(128 128 128 / 15%)); }
.kept { margin: 0; padding: 0 16px 8px; font-size: 12px; opacity: 0.75; }
.kept[hidden] { display: none; }
.starters { display: flex; flex-wrap: wrap; gap: 8px; padding: 0 16px 12px; }
.starters button {
  padding: 6px 12px;
  border: 1px solid var(--border);
  border-radius: 16px;
  background: none;
  color: inherit;
  text-align: left;
}
form { display: flex; align-items: end; margin: 8px 12px 12px; padding: 4px; border: 1px solid var(--line); border-radius: 24px; }
form:focus-within { border-color: var(--accent); box-shadow: 0 0 0 1px var(--accent); }
textarea {
  flex: 1;
  resize: none;
  max-height: 120px;
  padding: 8px 12px;
  font: inherit;
  color: inherit;
  border: 0;
  outline: 0;
  background: transparent;
  field-sizing: content;
}
textarea:focus-visible { outline: 0; }
textarea::placeholder { color: var(--muted); opacity: 1; }
form button { width: 40px; height: 40px; border-radius: 50%; background: var(--accent); color: var(--on-accent); display: grid; place-items: center; padding: 0; }
:host([data-layout='page']) { inset: 0; z-index: auto; font: 16px/1.6 'Figtree Variable', system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; }
:host([data-layout='page']) .panel { width: 100%; height: 100%; border: 0; border-radius: 0; box-shadow: none; }
:host([data-layout='page']) header { border-bottom: 1px solid var(--border); background: none; color: inherit; }
:host([data-layout='page']) .log,
:host([data-layout='page']) .starters,
:host([data-layout='page']) .kept { padding-inline: max(16px, calc(50% - 380px)); }
:host([data-layout='page']) .ai > .part > h1 { font-size: 22px; }
:host([data-layout='page']) .ai > .part > h2 { font-size: 18px; }
:host([data-layout='page']) form { width: min(760px, 100% - 32px); margin-inline: auto; }
/* Before the first question the greeting, the starters and the field stand together, a little above the middle. */
:host([data-layout='page']) .panel:not(:has(.human)) header { border-color: transparent; }
:host([data-layout='page']) .panel:not(:has(.human)) .log { justify-content: flex-end; align-items: center; flex: 2; text-align: center; }
:host([data-layout='page']) .panel:not(:has(.human))::after { flex: 3; content: ''; }
:host([data-layout='page']) .panel:not(:has(.human)) .line { align-self: center; padding: 4px 0 8px; font-size: 28px; font-weight: 650; line-height: 1.2; letter-spacing: -0.02em; text-wrap: balance; }
:host([data-layout='page']) .panel:not(:has(.human)) .log > .face { width: 64px; height: 64px; }
:host([data-layout='page']) .panel:not(:has(.human)) header .face { display: none; }
:host([data-layout='page']) .about { max-width: 34rem; margin: -12px 0 12px; color: var(--muted); text-wrap: balance; }
:host([data-layout='page']) .panel:has(.human) .log > :is(.face, .about) { display: none; }
:host([data-layout='page']) .panel:not(:has(.human)) .starters { justify-content: center; }
:host([data-layout='page']) .starters button { padding: 9px 14px; border: 0; background: var(--soft); }
@media (min-width: 1100px) {
  :host([data-layout='page']) .source {
    inset: 64px 0 0 auto;
    width: 340px;
    max-height: none;
    border: solid var(--border);
    border-width: 0 0 0 1px;
    border-radius: 0;
    box-shadow: none;
  }
}
`
