import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef } from 'react';
import { usePreferences } from '../preferences.ts';
import type { Tone } from './layout.tsx';
import { axisWords } from './time-axis.ts';
import type { TimeChartProps } from './time-chart.tsx';

const AXIS = 44;

/** Draws a chart on a canvas. The code is fetched when a chart is first shown. */
export default function Plot({ times, series, unit, height = 0 }: TimeChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const { utc } = usePreferences();
  useEffect(() => {
    const element = frame.current;
    if (!element) return undefined;
    const draw = (): uPlot => {
      const colour = coloursOf(element);
      const valueWords = typeof unit === 'string' ? (value: number) => value.toLocaleString() : unit;
      const moment = axisWords(times, utc);
      // The topmost series is drawn first, and the other series cover its lower part.
      const stacked = stack(series.map(({ values }) => values));
      const order = series.map((_, index) => series.length - 1 - index);
      // A bar is centred on its time, so the axis needs space for half a bar at each end.
      const half = ((times[1] ?? 0) - (times[0] ?? 0)) / 2_000;
      const bars = uPlot.paths.bars?.({ size: [0.8, 40], gap: 1 });
      return new uPlot(
        {
          width: element.clientWidth,
          height,
          legend: { show: false },
          cursor: { show: false },
          padding: [6, 8, 0, 0],
          scales: { x: { time: true, range: (_plot, min, max) => [min - half, max + half] }, y: { range: (_plot, _min, max) => [0, max || 1] } },
          axes: [
            {
              stroke: colour.muted,
              grid: { show: false },
              ticks: { stroke: colour.line },
              size: 24,
              font: FONT,
              values: (_plot, ticks) => ticks.map((seconds) => moment(seconds * 1_000)),
            },
            {
              stroke: colour.muted,
              grid: { stroke: colour.line, width: 1 },
              ticks: { show: false },
              size: AXIS,
              font: FONT,
              values: (_plot, ticks) => ticks.map(valueWords),
            },
          ],
          series: [
            {},
            ...order.map((index) => ({
              fill: colour.tone(series[index]?.tone ?? 'quiet'),
              width: 0,
              points: { show: false },
              ...(bars && { paths: bars }),
            })),
          ],
        },
        [times.map((time) => time / 1_000), ...order.map((index) => [...(stacked[index] ?? [])])],
        element,
      );
    };
    let plot = draw();
    const redraw = (): void => {
      plot.destroy();
      plot = draw();
    };
    const sizes = new ResizeObserver(() => plot.width !== element.clientWidth && redraw());
    sizes.observe(element);
    const themes = new MutationObserver(redraw);
    themes.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', redraw);
    return () => {
      sizes.disconnect();
      themes.disconnect();
      dark.removeEventListener('change', redraw);
      plot.destroy();
    };
  }, [times, series, unit, height, utc]);
  return <div ref={frame} className="h-full overflow-hidden" />;
}

const FONT = '11px system-ui, sans-serif';

/** For each series, returns its values plus the values of all series below it. */
function stack(all: readonly (readonly number[])[]): number[][] {
  const sums: number[] = [];
  return all.map((values) => values.map((value, index) => (sums[index] = (sums[index] ?? 0) + value)));
}

/** Returns the current values of the CSS colour variables, because a canvas cannot read the variables themselves. */
function coloursOf(element: HTMLElement) {
  const probe = document.createElement('span');
  element.append(probe);
  const read = (variable: string): string => {
    probe.style.color = `var(--${variable})`;
    return getComputedStyle(probe).color;
  };
  const tones = Object.fromEntries((['quiet', 'live', 'good', 'wait', 'bad', 'you'] as const).map((tone) => [tone, read(tone)])) as Record<Tone, string>;
  const colours = { muted: read('muted'), line: read('line'), tone: (tone: Tone) => tones[tone] };
  probe.remove();
  return colours;
}
