import { Choice } from '../../parts/field.tsx';
import { Section } from '../../parts/layout.tsx';
import { type Preferences, prefer, usePreferences } from '../../preferences.ts';

const THEMES: readonly (readonly [Preferences['theme'], string, string])[] = [
  ['system', 'System', 'Follows the setting of this machine.'],
  ['light', 'Light', 'Always light.'],
  ['dark', 'Dark', 'Always dark.'],
];

/** Settings that are stored only in this browser, not on the server. */
export function Theme() {
  const { theme, utc, keys } = usePreferences();
  return (
    <div className="grid max-w-3xl gap-8">
      <title>Theme · Covenant</title>
      <p className="text-muted">Stored in this browser. Changes apply immediately.</p>
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
          meaning="Show dates in UTC instead of the local time zone. Hover over a time to see the exact UTC time."
          onChoose={(on) => prefer({ utc: on })}
        />
        <Choice
          checked={keys}
          label="Single-key shortcuts"
          meaning={
            <>
              For example <kbd>j</kbd>, <kbd>k</kbd> and <kbd>g n</kbd>; <kbd>?</kbd> lists them. <kbd>Ctrl K</kbd> always works.
            </>
          }
          onChoose={(on) => prefer({ keys: on })}
        />
      </Section>
    </div>
  );
}
