import { Link, type RegisteredRouter, type RouteById, type RouteIds, useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';

type RouteId = RouteIds<RegisteredRouter['routeTree']>;
type PageSearch<Id extends RouteId> = RouteById<RegisteredRouter['routeTree'], Id>['types']['fullSearchSchema'];

/** Returns the search parameters of the page's address, and a function that changes some of them. The value undefined removes a parameter. */
export function usePageSearch<Id extends RouteId>(id: Id) {
  const search = useSearch({ from: id as RouteId }) as PageSearch<Id>;
  const navigate = useNavigate();
  const change = (part: Partial<PageSearch<Id>>, { replace = false } = {}): Promise<void> =>
    navigate({ to: '.', search: ((all: object) => ({ ...all, ...part })) as never, replace, resetScroll: false });
  return [search, change] as const;
}

interface SearchLinkProps {
  /** The parameters to set. */
  set: Readonly<Record<string, string | number | boolean | undefined>>;
  className?: string;
  'aria-label'?: string;
  /** Replaces the current entry of the browser history. */
  replace?: boolean;
  children: ReactNode;
}

/** A link that opens something on the same page, such as the panel of a row. All other parameters in the address stay. */
export function SearchLink({ set, className = 'hover:underline', ...rest }: SearchLinkProps) {
  return <Link to="." search={((all: object) => ({ ...all, ...set })) as never} resetScroll={false} className={className} {...rest} />;
}
