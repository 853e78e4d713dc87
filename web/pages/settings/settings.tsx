import { Outlet, useParams } from '@tanstack/react-router';
import type { KeptData } from '../../api.ts';
import { Command } from '../../parts/command.tsx';
import { DataList } from '../../parts/data-list.tsx';
import { Choice } from '../../parts/field.tsx';
import { Section, Views } from '../../parts/layout.tsx';
import type { Column } from '../../parts/table.tsx';
import { type Preferences, prefer, usePreferences } from '../../preferences.ts';
import { useRead } from '../../queries.ts';
import { Limit } from './limits.tsx';

/** Who is here, and what may they do? */
export function Settings() {
  const { agent = 'claude-code' } = useParams({ strict: false });
  return (
    <div className="max-w-5xl">
      <h1>Settings</h1>
      <Views
        label="Settings"
        views={[
          { to: '/settings/tokens', label: 'Tokens' },
          { to: '/settings/agents/$agent', params: { agent }, label: 'Agent setup' },
          { to: '/settings/devices', label: 'Devices' },
          { to: '/settings/members', label: 'Members' },
          { to: '/settings/roles', label: 'Roles' },
          { to: '/settings/limits', label: 'Limits' },
          { to: '/settings/retention', label: 'Retention' },
          { to: '/settings/theme', label: 'Theme' },
        ]}
      />
      <Outlet />
    </div>
  );
}

const COLUMNS: readonly Column<KeptData>[] = [
  { label: 'What', role: 'title', cell: ({ what }) => what },
  { label: 'Kept', role: 'state', width: 'sm:w-40', cell: ({ ms }) => (ms === null ? 'for good' : lasting(ms)) },
];

const UNITS = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
] as const;

function lasting(ms: number): string {
  const [size, name] = UNITS.find(([unit]) => ms >= unit) ?? [1_000, 'second'];
  const count = Math.round(ms / size);
  return `${count.toLocaleString()} ${name}${count === 1 ? '' : 's'}`;
}

/** What is kept how long: each part of the server says it of itself. */
export function Retention() {
  const { data, error, refetch } = useRead('retention.list', {});
  const rows = data && [...data.items].sort((a, b) => (b.ms ?? Number.POSITIVE_INFINITY) - (a.ms ?? Number.POSITIVE_INFINITY) || 0);
  const days = useRead('settings.list', {}).data?.items.find(({ key }) => key === 'retention.days');
  return (
    <div className="grid max-w-3xl gap-8">
      <title>Retention · Covenant</title>
      <Section title="What is kept, and how long">
        <p className="text-muted">
          The times count from when something is over. The server keeps to them by itself; what is kept for good goes only with the database, and events when an
          operator prunes the journal.
        </p>
        {days && <Limit setting={days} />}
        <div className="panel">
          <DataList
            noun="times"
            what="What is kept"
            label="What is kept, the shortest last"
            list={{ rows, error, refetch }}
            columns={COLUMNS}
            rowKey={({ what }) => what}
          />
        </div>
      </Section>
      <Section title="A copy of everything">
        <p className="text-muted">Taken while the server works, on SQLite:</p>
        <Command text="covenant backup" />
      </Section>
    </div>
  );
}

const THEMES: readonly (readonly [Preferences['theme'], string, string])[] = [
  ['system', "The machine's", 'Light or dark, as the machine is set.'],
  ['light', 'Light', 'Always light.'],
  ['dark', 'Dark', 'Always dark.'],
];

/** Of this browser alone: the server knows nothing of it. */
export function Theme() {
  const { theme, utc, keys } = usePreferences();
  return (
    <div className="grid max-w-3xl gap-8">
      <title>Theme · Covenant</title>
      <p className="text-muted">These are kept in this browser, and hold at once.</p>
      <Section title="Colours">
        <fieldset aria-label="Colours" className="grid gap-2">
          {THEMES.map(([choice, label, meaning]) => (
            <Choice key={choice} group="theme" checked={theme === choice} label={label} meaning={meaning} onChoose={() => prefer({ theme: choice })} />
          ))}
        </fieldset>
      </Section>
      <Section title="Times and keys">
        <Choice
          checked={utc}
          label="Times in UTC"
          meaning="Instead of this machine's zone. Hovering over a time shows it in UTC either way."
          onChoose={(on) => prefer({ utc: on })}
        />
        <Choice
          checked={keys}
          label="Single-key shortcuts"
          meaning={
            <>
              Such as <kbd>j</kbd>, <kbd>k</kbd> and <kbd>g n</kbd>; <kbd>?</kbd> lists them. <kbd>Ctrl K</kbd> works either way.
            </>
          }
          onChoose={(on) => prefer({ keys: on })}
        />
      </Section>
    </div>
  );
}
