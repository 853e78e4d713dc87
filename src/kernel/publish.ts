import { z } from 'zod';
import type { Annotations, Contract, Toolset } from './contract.ts';
import { ENVELOPES, type Envelope, type JsonSchema } from './reply.ts';
import type { Implementation } from './tool.ts';

/** A tool as callers see it: one name and one flat schema, with one or more operations behind it. */
export interface PublishedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly toolset: Toolset;
  readonly annotations: Annotations;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  readonly envelope: Envelope;
  /** The implementation of each operation. A tool without operations has one entry, under `null`. */
  readonly operations: ReadonlyMap<string | null, Implementation>;
}

const MAX_DESCRIPTION = 4_000;

/** Merges the operations of each name into one published tool. Throws on a contract that clients could not use. */
export function publish(implementations: readonly Implementation[]): PublishedTool[] {
  const byName = Map.groupBy(implementations, ({ contract }) => contract.name);
  const tools = [...byName].map(([name, members]) => publishOne(name, members));
  const seen = new Map<string, string>();
  for (const { name } of tools) {
    const folded = name.replaceAll('.', '_');
    const other = seen.get(folded);
    if (other) throw new Error(`tools ${other} and ${name} are the same name to clients that write "." as "_"`);
    seen.set(folded, name);
  }
  return tools.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function publishOne(name: string, members: readonly Implementation[]): PublishedTool {
  const [first] = members as [Implementation];
  const operations = new Map(members.map((member) => [member.contract.operation ?? null, member]));
  if (operations.size !== members.length) throw new Error(`tool ${name} has an operation twice`);
  if (operations.has(null) && operations.size > 1) throw new Error(`tool ${name} mixes operations with a contract that has none`);
  const contracts = members.map((member) => member.contract);
  const plain = operations.has(null);
  const description = plain ? first.contract.description : aboutOf(name, contracts);
  if (description.length > MAX_DESCRIPTION) throw new Error(`tool ${name} has a description of ${description.length} characters`);
  const envelope = ENVELOPES[first.contract.toolset];
  return {
    name,
    title: first.contract.title,
    description,
    toolset: first.contract.toolset,
    annotations: mergedAnnotations(contracts),
    inputSchema: plain ? jsonSchema(first.contract.input, 'input') : mergedInput(name, contracts),
    outputSchema: envelope.schema(plain ? jsonSchema(first.contract.output, 'output') : mergedOutput(contracts)),
    envelope,
    operations,
  };
}

function aboutOf(name: string, contracts: readonly Contract[]): string {
  const about = contracts.find((contract) => contract.about !== undefined)?.about;
  if (about === undefined) throw new Error(`tool ${name} describes its operations but not its purpose (about)`);
  return about;
}

/**
 * Describes all operations in the schema of `operation` and not in the tool's description. Every agent reads the description of
 * each tool, while a client loads a schema only for a tool that it uses.
 */
function operationsDescription(contracts: readonly Contract[]): string {
  return contracts.map((contract) => `${contract.operation}: ${contract.description}`).join('\n');
}

/** A tool is read-only if all of its operations are, and destructive if at least one of them is. */
function mergedAnnotations(contracts: readonly Contract[]): Annotations {
  const all = (key: keyof Annotations) => contracts.every((contract) => contract.annotations[key]);
  const any = (key: keyof Annotations) => contracts.some((contract) => contract.annotations[key]);
  return {
    readOnlyHint: all('readOnlyHint'),
    destructiveHint: any('destructiveHint'),
    idempotentHint: all('idempotentHint'),
    openWorldHint: any('openWorldHint'),
  };
}

/**
 * Merges the fields of all operations into one object in which `operation` is required, because some clients drop a tool with a
 * top-level `oneOf`.
 */
function mergedInput(name: string, contracts: readonly Contract[]): JsonSchema {
  const properties: Record<string, JsonSchema> = {
    operation: { type: 'string', enum: contracts.map((contract) => contract.operation), description: operationsDescription(contracts) },
  };
  const users = new Map<string, { takes: string[]; requires: string[] }>();
  for (const contract of contracts) {
    const schema = jsonSchema(contract.input, 'input');
    const required = new Set(schema.required as string[] | undefined);
    for (const [field, fieldSchema] of Object.entries(schema.properties as Record<string, JsonSchema>)) {
      const known = properties[field];
      if (known && JSON.stringify(known) !== JSON.stringify(fieldSchema)) {
        throw new Error(`tool ${name}: field ${field} of operation ${contract.operation} has a different schema than in an earlier operation`);
      }
      properties[field] = fieldSchema;
      const use = users.get(field) ?? { takes: [], requires: [] };
      (required.has(field) ? use.requires : use.takes).push(contract.operation as string);
      users.set(field, use);
    }
  }
  for (const [field, use] of users) properties[field] = { ...properties[field], description: usedBy(properties[field], use) };
  return { type: 'object', properties, required: ['operation'], additionalProperties: false };
}

function usedBy(schema: JsonSchema | undefined, { takes, requires }: { takes: string[]; requires: string[] }): string {
  const notes = [
    schema?.description,
    requires.length > 0 ? `Required by ${requires.join(', ')}.` : undefined,
    takes.length > 0 ? `Optional in ${takes.join(', ')}.` : undefined,
  ];
  return notes.filter((note) => note !== undefined).join(' ');
}

function mergedOutput(contracts: readonly Contract[]): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  for (const contract of contracts) {
    for (const [field, schema] of Object.entries(jsonSchema(contract.output, 'output').properties as Record<string, JsonSchema>)) {
      const known = properties[field];
      properties[field] = known && JSON.stringify(known) !== JSON.stringify(schema) ? {} : schema;
    }
  }
  return { type: 'object', properties, additionalProperties: false };
}

function jsonSchema(schema: z.ZodObject, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, target: 'draft-2020-12' });
  return rest;
}
