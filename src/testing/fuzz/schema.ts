import fc from 'fast-check';
import type { JsonSchema } from '../../kernel/reply.ts';

/** Returns values for a field with this name if the schema alone is not enough. If it returns undefined, the schema determines the values. */
export type Hint = (field: string) => fc.Arbitrary<unknown> | undefined;

const NO_HINT: Hint = () => undefined;

const WORDS = [
  'parse dates',
  'login page',
  'Überprüfung',
  '日本語 テスト',
  'fix 🐛 in queue',
  'a',
  'it\'s "quoted" \\ and <b>',
  '%_;--',
  '$(x) {{y}}',
  'src/a.ts',
];
const MANY = 5;

/** Generates input that the schema allows. It uses all types, sometimes the limits, and includes optional fields only in some cases. */
export function valid(schema: JsonSchema, hint: Hint = NO_HINT): fc.Arbitrary<unknown> {
  if ('const' in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  const choices = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
  if (choices) return fc.oneof(...choices.map((choice) => valid(choice, hint)));
  if (Array.isArray(schema.type)) return fc.oneof(...schema.type.map((type) => valid({ ...schema, type }, hint)));
  switch (schema.type) {
    case 'string':
      return text(schema);
    case 'integer':
    case 'number':
      return number(schema);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return array(schema, hint);
    case 'object':
      return object(schema, hint);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function object(schema: JsonSchema, hint: Hint): fc.Arbitrary<Record<string, unknown>> {
  const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
  const fields = Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, hinted(name, inner, hint)]));
  const named = fc.record(fields, { requiredKeys: (schema.required as string[] | undefined) ?? [] }) as fc.Arbitrary<Record<string, unknown>>;
  const free = schema.additionalProperties as JsonSchema | false | undefined;
  if (free === false || free === undefined) return named;
  const names = valid((schema.propertyNames as JsonSchema | undefined) ?? { type: 'string' }).filter((name) => name !== '__proto__') as fc.Arbitrary<string>;
  return fc.tuple(named, fc.dictionary(names, valid(free, hint), { maxKeys: 3, noNullPrototype: true })).map(([own, more]) => ({ ...more, ...own }));
}

const hinted = (name: string, schema: JsonSchema, hint: Hint): fc.Arbitrary<unknown> => {
  const known = hint(name);
  if (!known) return valid(schema, hint);
  return schema.type === 'array' ? fc.array(known, { minLength: Number(schema.minItems ?? 0), maxLength: most(schema) }) : known;
};

const array = (schema: JsonSchema, hint: Hint): fc.Arbitrary<unknown[]> =>
  fc.array(valid((schema.items as JsonSchema | undefined) ?? {}, hint), { minLength: Number(schema.minItems ?? 0), maxLength: most(schema) });

const most = ({ minItems, maxItems }: JsonSchema): number => Math.max(Number(minItems ?? 0), Math.min(MANY, Number(maxItems ?? MANY)));

/** Generates numbers. The limits of the schema occur at least as often as all values between them. */
function number({ type, minimum, maximum }: JsonSchema): fc.Arbitrary<number> {
  const [least, greatest] = [Number(minimum ?? -1_000_000), Number(maximum ?? 1_000_000)];
  const edges = fc.constantFrom(least, greatest, ...[0, 1, 5, 20].filter((some) => some >= least && some <= greatest));
  if (type === 'integer') return fc.oneof({ weight: 2, arbitrary: edges }, { weight: 1, arbitrary: fc.integer({ min: least, max: greatest }) });
  return fc.oneof(edges, fc.double({ min: least, max: greatest, noNaN: true, noDefaultInfinity: true }));
}

function text({ minLength, maxLength, pattern }: JsonSchema): fc.Arbitrary<string> {
  const [shortest, longest] = [Number(minLength ?? 0), Number(maxLength ?? 10_000)];
  const fits = (value: string) =>
    value.trim().length >= shortest && value.length <= longest && (pattern === undefined || new RegExp(String(pattern), 'u').test(value));
  const words = fc.oneof(
    fc.constantFrom(...WORDS),
    fc.lorem({ maxCount: 6 }),
    fc.string({ unit: 'grapheme', minLength: shortest, maxLength: Math.min(longest, 40) }),
  );
  const full = fc.constantFrom('x', '語').map((letter) => letter.repeat(longest));
  if (pattern === undefined || String(pattern).includes('\\p{')) {
    const fitting = words.map((value) => value.slice(0, longest)).filter(fits);
    return fc.oneof({ weight: 40, arbitrary: fitting }, { weight: 1, arbitrary: full.filter(fits) });
  }
  return fc.stringMatching(new RegExp(String(pattern)), { maxLength: Math.min(longest, 80) }).filter(fits);
}
