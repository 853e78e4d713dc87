import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv, type ValidateFunction } from 'ajv';

/** Validates requests and answers against GitHub's published API description, for the calls that the server makes. */

type Json = Record<string, unknown>;

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: Json;
}

interface Operation {
  readonly parameters?: readonly Json[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Json } } };
  readonly responses: Readonly<Record<string, Json>>;
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, Json>>>>;
}

const LIST_PULLS = '/repos/{owner}/{repo}/pulls';
const ONE_PULL = '/repos/{owner}/{repo}/pulls/{pull_number}';
const ISSUES = '/repos/{owner}/{repo}/issues';
export const OPERATIONS = [`GET ${LIST_PULLS}`, `POST ${LIST_PULLS}`, `GET ${ONE_PULL}`, `PATCH ${ONE_PULL}`, `GET ${ISSUES}`, `POST ${ISSUES}`] as const;
export type OperationName = (typeof OPERATIONS)[number];

const require = createRequire(import.meta.url);
const read = (): Description => JSON.parse(readFileSync(require.resolve('@octokit/openapi/generated/api.github.com.json'), 'utf8')) as Description;
/** The description has several megabytes, so it is read only once, and only the part that is used stays in memory. */
let kept: Contract | undefined;
export const gitHubContract = (): Contract => (kept ??= pick(read()));

export interface Contract {
  /** Returns what is wrong with a request. Empty if it is valid. */
  request(name: OperationName, asked: { path: Json; query: Json; body: unknown }): string[];
  answer(name: OperationName, status: number, body: unknown): string[];
  /** Returns a copy of one of GitHub's example answers, which the caller may change. */
  example(name: 'pull-request' | 'issue'): Json;
}

/** Rewrites `nullable` in a schema, because the validator supports this OpenAPI keyword only next to a type. */
function spellOut(schema: Json): void {
  const { nullable: _, ...rest } = schema;
  for (const key of Object.keys(schema)) delete schema[key];
  schema.anyOf = [rest, { type: 'null' }];
}

function pick({ paths, components }: Description): Contract {
  const at = (ref: string): Json =>
    ref
      .slice(2)
      .split('/')
      .reduce<Json>((inside, part) => inside[part] as Json, { components } as Json);
  const resolved = (value: Json): Json => (typeof value.$ref === 'string' ? at(value.$ref) : value);
  const ajv = new Ajv({ strict: false, validateFormats: false, coerceTypes: false, allErrors: true });
  const asNumbers = new Ajv({ strict: false, validateFormats: false, coerceTypes: true });
  const added = new Set<string>();
  // Collects only the schemas that are used, each with its own reference.
  const reach = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { $ref } = value as Json;
    if (typeof $ref === 'string' && !added.has($ref)) {
      added.add($ref);
      reach(at($ref));
      ajv.addSchema(at($ref), $ref);
    }
    if ('nullable' in value && !('type' in value)) spellOut(value as Json);
    for (const inner of Object.values(value)) reach(inner);
  };
  const compiled = new Map<string, ValidateFunction>();
  const once = (key: string, compile: () => ValidateFunction): ValidateFunction => {
    const check = compiled.get(key) ?? compile();
    compiled.set(key, check);
    return check;
  };
  const holds = (key: string, schema: Json, body: unknown): string[] => {
    const check = once(key, () => {
      reach(schema);
      return ajv.compile(schema);
    });
    return check(body) ? [] : (check.errors ?? []).map(({ instancePath, message }) => `${key}: ${instancePath} ${message}`);
  };
  const operation = (name: OperationName): Operation => {
    const [method, path] = name.split(' ') as [string, string];
    const shared = (paths[path] as unknown as { parameters?: Json[] }).parameters ?? [];
    const own = paths[path]?.[method.toLowerCase()] as Operation;
    return { ...own, parameters: [...shared, ...(own.parameters ?? [])] };
  };

  return {
    request(name, { path, query, body }) {
      const { parameters = [], requestBody } = operation(name);
      const known = parameters.map((parameter) => resolved(parameter) as unknown as Parameter);
      const problems: string[] = [];
      for (const [where, given] of [
        ['path', path],
        ['query', query],
      ] as const) {
        const key = `${name} ${where}`;
        const here = known.filter((parameter) => parameter.in === where);
        const check = once(key, () =>
          asNumbers.compile({
            type: 'object',
            properties: Object.fromEntries(here.map((parameter) => [parameter.name, resolved(parameter.schema)])),
            required: here.filter(({ required }) => required).map((parameter) => parameter.name),
            additionalProperties: false,
          }),
        );
        if (!check({ ...given })) problems.push(`${key}: ${asNumbers.errorsText(check.errors)}`);
      }
      const schema = requestBody?.content['application/json'].schema;
      if (!schema && body !== undefined) problems.push(`${name}: takes no body`);
      if (!schema) return problems;
      const unknown = Object.keys(body as Json).filter((field) => !(field in (schema.properties as Json)));
      if (unknown.length > 0) problems.push(`${name}: unknown fields ${unknown.join(', ')}`);
      return [...problems, ...holds(`${name} body`, schema, body)];
    },
    answer(name, status, body) {
      const described = operation(name).responses[status];
      // The description does not contain errors that every call can have, such as a missing token, a rate limit or a server error.
      const content = described ? (resolved(described).content as Record<string, { schema: Json }> | undefined) : undefined;
      return holds(`${name} ${status}`, content?.['application/json']?.schema ?? { $ref: '#/components/schemas/basic-error' }, body);
    },
    example: (name) => structuredClone(components.examples?.[name]?.value) as Json,
  };
}
