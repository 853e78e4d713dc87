export const SUBJECT_KINDS = [
  ['developer', 'Developer'],
  ['token', 'Token'],
  ['instance', 'Instance'],
  ['operator', 'Operator'],
] as const;
export type SubjectKind = (typeof SUBJECT_KINDS)[number][0];

/** Who can hold a grant, as people name them. */
export interface Subject {
  readonly kind: SubjectKind;
  /** Empty for the operator. */
  readonly name: string;
}

export const subjectText = ({ kind, name }: Subject): string => (kind === 'operator' ? kind : `${kind}:${name}`);

/** From an address: undefined where it names nobody. */
export function subjectFrom(text: string | undefined): Subject | undefined {
  if (text === 'operator') return { kind: 'operator', name: '' };
  const [, kind, name] = /^(developer|token|instance):(.+)$/su.exec(text ?? '') ?? [];
  return kind && name ? { kind: kind as SubjectKind, name } : undefined;
}

/** As the input of an action, and as options of the command: the operator is meant where none is named. */
export const namedSubject = ({ kind, name }: Subject): { developer?: string; token?: string; instance?: string } =>
  kind === 'operator' ? {} : { [kind]: name.trim() };

export const isNamed = ({ kind, name }: Subject): boolean => kind === 'operator' || name.trim() !== '';
