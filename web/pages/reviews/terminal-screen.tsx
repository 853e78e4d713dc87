import '@xterm/xterm/css/xterm.css';
import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import { useEffect, useRef } from 'react';
import type { ShownScreen } from './terminal-link.ts';
import { styleByRules } from './terminal-style.ts';
import { painted } from './terminal-text.ts';

interface TerminalScreenProps {
  label: string;
  screen: ShownScreen | undefined;
  write: boolean;
  onInput: (data: string) => void;
  onResize: (columns: number, rows: number) => void;
  onLeave: () => void;
}

const FONT_PX = 13;
const SMALLEST_PX = 8;
/** The smallest and largest size that the server accepts. */
const COLUMNS = { min: 20, max: 500 };
const ROWS = { min: 5, max: 200 };
const LOG_LINES = 5_000;
/** The terminal is dark in every theme, because agents choose their colours for a dark terminal. */
const THEME = { background: '#0f1115', foreground: '#e8eaf0', cursor: '#7fb0ff', selectionBackground: '#33466b' };

/** Shows the screen of a terminal on the server. While a person types into it, the terminal on the server is resized to fit this view. */
export default function TerminalScreen({ label, screen, write, onInput, onResize, onLeave }: TerminalScreenProps) {
  const box = useRef<HTMLDivElement>(null);
  const shown = useRef<{ terminal: Terminal; fit: FitAddon }>(undefined);
  const latest = useRef({ onInput, onResize, onLeave });
  latest.current = { onInput, onResize, onLeave };

  useEffect(() => {
    const place = box.current;
    if (!place) return undefined;
    const asBefore = styleByRules();
    const terminal = new Terminal({
      disableStdin: !write,
      cursorBlink: false,
      fontSize: FONT_PX,
      fontFamily: getComputedStyle(place).fontFamily,
      minimumContrastRatio: 4.5,
      scrollback: LOG_LINES,
      theme: THEME,
    });
    const fit = new FitAddon();
    terminal.loadAddon(fit);
    terminal.open(place);
    if (terminal.textarea && !write) terminal.textarea.tabIndex = -1;
    shown.current = { terminal, fit };
    if (write) {
      terminal.onData((data) => latest.current.onInput(data));
      terminal.attachCustomKeyEventHandler((event) => {
        if (!(event.ctrlKey && event.key === ']')) return true;
        if (event.type === 'keydown') latest.current.onLeave();
        return false;
      });
      terminal.focus();
    }
    return () => {
      shown.current = undefined;
      terminal.dispose();
      asBefore();
    };
  }, [write]);

  useEffect(() => {
    const place = box.current;
    if (!place || !write) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const measure = (): void => {
      const size = shown.current?.fit.proposeDimensions();
      if (size) latest.current.onResize(within(size.cols, COLUMNS), within(size.rows, ROWS));
    };
    const watcher = new ResizeObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(measure, 200);
    });
    watcher.observe(place);
    return () => {
      clearTimeout(timer);
      watcher.disconnect();
    };
  }, [write]);

  useEffect(() => {
    const { terminal, fit } = shown.current ?? {};
    if (!terminal || !fit || !screen) return;
    if (screen.columns === null || screen.rows === null) fit.fit();
    else {
      if (!write) shrink(terminal, fit, screen.columns);
      terminal.resize(screen.columns, screen.rows);
    }
    terminal.write(painted(screen));
  }, [screen, write]);

  const size = write || screen?.columns === null ? 'h-[60dvh] overflow-hidden' : 'overflow-x-auto';
  return <section ref={box} aria-label={label} className={`mono rounded-md border border-line bg-[#0f1115] p-2 ${size}`} />;
}

const within = (value: number, { min, max }: { min: number; max: number }): number => Math.min(max, Math.max(min, value));

/** Reduces the font size until the lines fit, but not below a readable size. */
function shrink(terminal: Terminal, fit: FitAddon, columns: number): void {
  const { fontSize = FONT_PX } = terminal.options;
  const there = fit.proposeDimensions()?.cols;
  if (!there) return;
  const fitting = Math.floor((fontSize * there) / columns);
  terminal.options.fontSize = within(fitting, { min: SMALLEST_PX, max: FONT_PX });
}
