import { isRecord } from '../../../kernel/input.ts';
import { each, inside, type UsagePlace, wholeNumber } from './place.ts';

/** Attributes as one object, whether they came as OTLP's list or as an object already. */
export function attributesOf(record: UsagePlace): UsagePlace {
  const plain = inside(record, 'attributes');
  if (plain) return plain;
  const pairs = each(record, 'attributes').map(({ value }) => [String(value.key), plainValue(value.value)] as const);
  return { path: record.path, value: Object.fromEntries(pairs) };
}

/** OTLP writes 64-bit integers as text. */
function plainValue(value: unknown): unknown {
  if (!isRecord(value)) return undefined;
  return value.intValue ?? value.doubleValue ?? value.stringValue;
}

const DIGITS = /^\d{1,16}$/;

/** The first of the named attributes that is there. */
export function attributeCounter(attributes: UsagePlace, names: readonly string[]): number | undefined {
  const name = names.find((each) => attributes.value[each] !== undefined && attributes.value[each] !== null);
  if (name === undefined) return undefined;
  const value = attributes.value[name];
  return wholeNumber(typeof value === 'string' && DIGITS.test(value) ? Number(value) : value, `${attributes.path}.${name}`);
}

/** Records from the depth of OTLP under names that a refusal has room for. */
export const numbered = (records: readonly UsagePlace[], name: string): UsagePlace[] =>
  records.map(({ value }, at) => ({ path: `payload…${name}[${at}]`, value }));
