import { Fragment, type ReactNode } from 'react';

/** Values and their names. Null is shown as a dash. False and undefined are left out. */
export type FactValues = Readonly<Record<string, ReactNode>>;

export function Facts({ facts }: { facts: FactValues }) {
  return (
    <dl className="grid grid-cols-[7rem_minmax(0,1fr)] gap-x-3 gap-y-1.5">
      {Object.entries(facts).map(
        ([name, value]) =>
          value !== undefined &&
          value !== false && (
            <Fragment key={name}>
              <dt className="text-muted">{name}</dt>
              <dd>{value ?? '—'}</dd>
            </Fragment>
          ),
      )}
    </dl>
  );
}
