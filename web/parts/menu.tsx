import * as Dropdown from '@radix-ui/react-dropdown-menu';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { PagePath } from '../shell/pages.ts';
import { Icon, type IconName } from './icon.tsx';

const ENTRY =
  'flex min-h-8 cursor-default items-center gap-2 rounded px-2 outline-none select-none data-[highlighted]:bg-live-tint data-[highlighted]:text-live pointer-coarse:min-h-11';

interface MenuProps {
  /** The name of the button for screen readers. */
  label: string;
  trigger: ReactNode;
  className?: string;
  children: ReactNode;
}

/** A button that opens a list of choices. The menu is not modal, because a modal one adds inline styles, which the content policy forbids. */
export function Menu({ label, trigger, className = 'button', children }: MenuProps) {
  return (
    <Dropdown.Root modal={false}>
      <Dropdown.Trigger className={className} aria-label={label}>
        {trigger}
      </Dropdown.Trigger>
      <Dropdown.Portal>
        <Dropdown.Content
          align="end"
          sideOffset={4}
          collisionPadding={8}
          className="z-40 grid min-w-52 rounded-lg border border-line bg-base p-1 text-body text-text shadow-xl"
        >
          {children}
        </Dropdown.Content>
      </Dropdown.Portal>
    </Dropdown.Root>
  );
}

export function MenuLink({ to, icon, children }: { to: PagePath; icon: IconName; children: ReactNode }) {
  return (
    <Dropdown.Item asChild>
      <Link to={to} className={ENTRY}>
        <Icon name={icon} />
        {children}
      </Link>
    </Dropdown.Item>
  );
}

export function MenuItem({ onChoose, children }: { onChoose: () => void; children: ReactNode }) {
  return (
    <Dropdown.Item className={ENTRY} onSelect={onChoose}>
      {children}
    </Dropdown.Item>
  );
}

/** A menu item that switches something on or off. After a click the menu stays open, because the person can see the effect behind it. */
export function MenuSwitch({ on, onChange, children }: { on: boolean; onChange: (on: boolean) => void; children: ReactNode }) {
  return (
    <Dropdown.CheckboxItem className={ENTRY} checked={on} onCheckedChange={onChange} onSelect={(event) => event.preventDefault()}>
      <Mark shown={on} />
      {children}
    </Dropdown.CheckboxItem>
  );
}

interface MenuChoiceProps<T extends string> {
  label: string;
  chosen: T;
  choices: readonly (readonly [T, string])[];
  onChoose: (choice: T) => void;
}

export function MenuChoice<T extends string>({ label, chosen, choices, onChoose }: MenuChoiceProps<T>) {
  return (
    <>
      <Dropdown.Label className="px-2 pt-1.5 text-label text-muted">{label}</Dropdown.Label>
      <Dropdown.RadioGroup value={chosen} onValueChange={(value) => onChoose(value as T)}>
        {choices.map(([choice, name]) => (
          <Dropdown.RadioItem key={choice} value={choice} className={ENTRY} onSelect={(event) => event.preventDefault()}>
            <Mark shown={choice === chosen} />
            {name}
          </Dropdown.RadioItem>
        ))}
      </Dropdown.RadioGroup>
    </>
  );
}

export function MenuLine() {
  return <Dropdown.Separator className="my-1 h-px bg-line" />;
}

function Mark({ shown }: { shown: boolean }) {
  return (
    <span aria-hidden="true" className="w-4 text-center">
      {shown ? '✓' : ''}
    </span>
  );
}
