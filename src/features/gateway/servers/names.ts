import { hash } from 'node:crypto';
import { namespaceOf } from '../../../kernel/registry.ts';

/** Every client shows a name of this length in full, with room for the client's own prefix. */
export const MAX_NAME = 40;
const TAIL = 6;
const PLAIN = new RegExp(`^[A-Za-z0-9_-]{1,${MAX_NAME}}$`);
/** Names allowed by the protocol. */
const OWN = /^[A-Za-z0-9_.-]{1,128}$/;

/** The exposed name of a tool or prompt. It depends only on the server's entry and the tool's own name. */
export function exposedName(server: string, name: string, prefix: boolean): string {
  const wanted = prefix ? `${server}_${name}` : name;
  if ((prefix ? PLAIN : OWN).test(wanted)) return wanted;
  const tail = hash('sha256', `${server}\0${name}`).slice(0, TAIL);
  return `${wanted.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_NAME - TAIL - 1)}_${tail}`;
}

/** Clients write "." as "_", so names that differ only in this are the same to them. */
export const foldedName = (exposed: string): string => exposed.replaceAll('.', '_');

/** Whether an external tool can never have this name: it is native, or in a native namespace. */
export function nativeNames(names: Iterable<string>): (exposed: string) => boolean {
  const folded = new Set([...names].map(foldedName));
  return (exposed) => namespaceOf(exposed) !== undefined || folded.has(foldedName(exposed));
}
