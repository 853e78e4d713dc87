import type { Point } from './ranking.ts';

export interface Line {
  readonly name: string;
  readonly colour: string;
  readonly points: readonly Point[];
}

const [LEFT, TOP, WIDE, HIGH] = [56, 24, 560, 320];
const MAX_ALARMS = 0.6;
const x = (share: number): string => (LEFT + (Math.min(share, MAX_ALARMS) / MAX_ALARMS) * WIDE).toFixed(1);
const y = (share: number): string => (TOP + (1 - share) * HIGH).toFixed(1);
const words = (at: [string, string], text: string, more = ''): string => `<text x="${at[0]}" y="${at[1]}" ${more}>${text}</text>`;

/** Draws recall against false alarms as one line per data set, and marks the chosen threshold on each line. */
export function curveSvg(lines: readonly Line[], chosen: number): string {
  const parts: string[] = [];
  for (let step = 0; step <= 5; step++) {
    const level = step / 5;
    parts.push(`<line x1="${LEFT}" x2="${LEFT + WIDE}" y1="${y(level)}" y2="${y(level)}" stroke="#ddd"/>`);
    parts.push(words([String(LEFT - 8), y(level)], `${level * 100} %`, 'text-anchor="end" dominant-baseline="middle"'));
  }
  for (let share = 0; share <= MAX_ALARMS + 1e-9; share += 0.1) {
    parts.push(words([x(share), String(TOP + HIGH + 18)], `${Math.round(share * 100)} %`, 'text-anchor="middle"'));
  }
  for (const [at, { name, colour, points }] of lines.entries()) {
    const path = points
      .filter(({ falseAlarms }) => falseAlarms <= MAX_ALARMS)
      .map((point) => `${x(point.falseAlarms)},${y(point.recall)}`)
      .join(' ');
    parts.push(`<polyline fill="none" stroke="${colour}" stroke-width="2" points="${path}"/>`);
    const mark = points.find(({ threshold }) => threshold === chosen);
    if (mark) parts.push(`<circle cx="${x(mark.falseAlarms)}" cy="${y(mark.recall)}" r="5" fill="${colour}"/>`);
    parts.push(words([String(LEFT + WIDE - 250), String(TOP + HIGH - 20 - 20 * at)], name, `fill="${colour}"`));
  }
  parts.push(words([String(LEFT + WIDE / 2), String(TOP + HIGH + 42)], 'ordinary tasks that would require a verdict', 'text-anchor="middle"'));
  parts.push(words([String(LEFT), '14'], `duplicates whose original is among the candidates; dots: escalate = ${chosen}`));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${LEFT + WIDE + 24} ${TOP + HIGH + 56}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="white"/>
${parts.join('\n')}
</svg>
`;
}
