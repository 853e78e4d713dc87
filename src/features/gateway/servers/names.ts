import { hash } from 'node:crypto';
import { namespaceOf } from '../../../kernel/registry.ts';

/** All clients show names of this length in full, even if they add a prefix of their own. */
export const MAX_NAME = 40;
const TAIL = 6;
const PLAIN = new RegExp(`^[A-Za-z0-9_-]{1,${MAX_NAME}}$`);
/** Names that the protocol allows. */
const OWN = /^[A-Za-z0-9_.-]{1,128}$/;

/** The name under which a tool or prompt is offered. It depends only on the entry of the server and on the tool's own name. */
export function exposedName(server: string, name: string, prefix: boolean): string {
  const wanted = prefix ? `${server}_${name}` : name;
  if ((prefix ? PLAIN : OWN).test(wanted)) return wanted;
  const tail = hash('sha256', `${server}\0${name}`).slice(0, TAIL);
  return `${wanted.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_NAME - TAIL - 1)}_${tail}`;
}

/** Clients replace "." with "_", so two names that differ only in these characters are the same name for a client. */
export const foldedName = (exposed: string): string => exposed.replaceAll('.', '_');

/** Returns a function that says whether a name is reserved: it belongs to a native tool or is in a native namespace. */
export function nativeNames(names: Iterable<string>): (exposed: string) => boolean {
  const folded = new Set([...names].map(foldedName));
  return (exposed) => namespaceOf(exposed) !== undefined || folded.has(foldedName(exposed));
}
