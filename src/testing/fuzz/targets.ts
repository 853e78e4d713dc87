import { z } from 'zod';
import type { Contract } from '../../kernel/contract.ts';
import type { PublishedTool } from '../../kernel/publish.ts';
import { ALIAS_NAMES, isRecord, type Registry, toolNamed } from '../../kernel/registry.ts';
import type { JsonSchema } from '../../kernel/reply.ts';

/** Something that can be called: a tool, an action, or one operation of a tool or action. */
export interface Target {
  readonly noun: 'tool' | 'action';
  /** The name with the operation, such as `covibe_task.plan`, `tasks.show` or `create_pr`. */
  readonly label: string;
  readonly name: string;
  readonly published: PublishedTool;
  readonly contract: Contract;
  /** The schema of this operation only. */
  readonly schema: JsonSchema;
}

/** Returns everything that callers can call on the running product. */
export function targetsOf(registry: Registry): Target[] {
  const tools = registry.tools().flatMap((tool) => of('tool', tool.name, tool));
  const aliases = ALIAS_NAMES.flatMap((alias) => of('tool', alias, registry.tool(toolNamed(alias)) as PublishedTool));
  return [...tools, ...aliases, ...registry.actions().flatMap((action) => of('action', action.name, action))];
}

const of = (noun: Target['noun'], name: string, published: PublishedTool): Target[] =>
  [...published.operations].map(([operation, { contract }]) => ({
    noun,
    name,
    label: operation === null ? name : `${name}.${operation}`,
    published,
    contract,
    schema: z.toJSONSchema(contract.input, { io: 'input' }) as JsonSchema,
  }));

export const fieldsOf = ({ schema }: Target): string[] => Object.keys((schema.properties ?? {}) as object);

/** Adds the operation to the fields, as the client must send it. The fields are copied by descriptor, because one of them may be called `__proto__`. */
export const asSent = ({ contract: { operation } }: Target, fields: unknown): unknown =>
  operation === undefined || !isRecord(fields) ? fields : Object.defineProperties({ operation }, Object.getOwnPropertyDescriptors(fields));
