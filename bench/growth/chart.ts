import { ENGINES, type EngineName } from '../engine.ts';
import { type Figure, SIZES } from './figures.ts';
import { sizeName } from './section.ts';

const COLUMNS = 4;
const PANEL = { width: 190, height: 120 };
const GAP = { x: 46, y: 48 };
const EDGE = { left: 52, top: 64, bottom: 14 };
const LOWEST_MS = 0.01;
const HIGHEST_MS = 100_000;
const DECADES = Math.log10(HIGHEST_MS / LOWEST_MS);
/** The lines of the engines differ in dashes and in colour. The colours are visible on a white and on a black background. */
const LINES: Record<EngineName, { colour: string; dashes: string }> = {
  SQLite: { colour: '#2f81f7', dashes: 'none' },
  PostgreSQL: { colour: '#d1720c', dashes: '5 3' },
};

const across = (size: number): number => round((Math.log10(size / SIZES[0]) / Math.log10((SIZES.at(-1) as number) / SIZES[0])) * PANEL.width);
const down = (ms: number): number => round((1 - Math.log10(Math.min(HIGHEST_MS, Math.max(LOWEST_MS, ms)) / LOWEST_MS) / DECADES) * PANEL.height);
const round = (place: number): number => Math.round(place * 10) / 10;
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const msName = (ms: number): string => (ms >= 1_000 ? `${ms / 1_000} s` : `${ms} ms`);

/** Draws one panel per operation, which shows how its time grows with the size of the store. All panels have the same logarithmic axes. */
export function chartOf(title: string, figures: readonly Figure[]): string {
  const names = [...new Set(figures.map(({ operation }) => operation))];
  const rows = Math.ceil(names.length / COLUMNS);
  const width = EDGE.left + COLUMNS * (PANEL.width + GAP.x);
  const height = EDGE.top + rows * (PANEL.height + GAP.y) + EDGE.bottom;
  const panels = names.map((name, at) => {
    const x = EDGE.left + (at % COLUMNS) * (PANEL.width + GAP.x);
    const y = EDGE.top + Math.floor(at / COLUMNS) * (PANEL.height + GAP.y);
    const own = figures.filter(({ operation }) => operation === name);
    const lines = ENGINES.flatMap((engine) => lineOf(engine, own));
    return `<g transform="translate(${x},${y})"><use href="#axes"/><text y="-8" class="name">${escaped(name)}</text>${lines.join('')}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<style>svg{color:#1f2328;font:11px system-ui,sans-serif}@media(prefers-color-scheme:dark){svg{color:#e6edf3}}text{fill:currentColor}.name{font-weight:600}.axis{opacity:.7;font-size:9px}.grid{stroke:currentColor;opacity:.18}.s,.p{fill:none;stroke-width:2}${ENGINES.map((engine) => `.${classOf(engine)}{stroke:${LINES[engine].colour};stroke-dasharray:${LINES[engine].dashes}}`).join('')}</style>
<defs>${axes()}</defs>
<text x="${EDGE.left}" y="20" style="font-size:14px;font-weight:600">${escaped(title)}</text>
<text x="${EDGE.left}" y="38" class="axis">median time of one operation (up) by tasks and events in the store (across), both logarithmic</text>
${ENGINES.map((engine, at) => `<path class="${classOf(engine)}" d="M${width - 250 + at * 100} 16h24"/><text x="${width - 220 + at * 100}" y="20">${engine}</text>`).join('')}
${panels.join('\n')}
</svg>
`;
}

const classOf = (engine: EngineName): string => (engine === 'SQLite' ? 's' : 'p');

function lineOf(engine: EngineName, figures: readonly Figure[]): string[] {
  const points = figures.filter((figure) => figure.engine === engine).toSorted((a, b) => a.size - b.size);
  if (points.length === 0) return [];
  return [`<path class="${classOf(engine)}" d="M${points.map(({ size, p50_ms }) => `${across(size)} ${down(p50_ms)}`).join('L')}"/>`];
}

/** The axes and the grid, which every panel reuses. */
function axes(): string {
  const times = Array.from({ length: DECADES + 1 }, (_, decade) => LOWEST_MS * 10 ** decade);
  const ticks = SIZES.map(
    (size) =>
      `<path class="grid" d="M${across(size)} 0v${PANEL.height}"/><text class="axis" text-anchor="middle" x="${across(size)}" y="${PANEL.height + 13}">${sizeName(size)}</text>`,
  );
  const up = times.map(
    (ms, at) =>
      `<path class="grid" d="M0 ${down(ms)}h${PANEL.width}"/>${at % 2 === 0 ? '' : `<text class="axis" text-anchor="end" x="-5" y="${down(ms) + 3}">${msName(Number(ms.toPrecision(1)))}</text>`}`,
  );
  return `<g id="axes">${[...ticks, ...up].join('')}</g>`;
}
