import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { record } from '../../../kernel/call.ts';
import { excerpt } from '../../../kernel/excerpt.ts';
import { invalidInput, notFound, ok, Refusal } from '../../../kernel/reply.ts';
import { type Feature, type Implementation, implement } from '../../../kernel/tool.ts';
import { countRows, findRow, insertRows, matching, newId, readJson } from '../../../storage/rows.ts';
import type { WorkflowTemplateRow } from '../../../storage/schema-rows.ts';
import { createWorkflow, setPlan } from '../workflows/index.ts';
import { applyTemplate, createTemplate, definition, listTemplates, outline, type TemplateView } from './contract.ts';
import { checkedDefinition, filledIn } from './definition.ts';
import { tasksFrom } from './from-workflow.ts';

const templateTools: Implementation[] = [
  implement(createTemplate, {
    write: async (tx, { name, description, from_workflow_id, template }, ctx) => {
      if ((from_workflow_id === undefined) === (template === undefined)) {
        throw invalidInput([{ field: 'template', message: 'send exactly one of from_workflow_id and template' }]);
      }
      const namesake = await findRow(tx.db, 'workflow_templates', { workspace_id: tx.workspace, name });
      if (namesake) throw duplicate(namesake);
      const tasks = template?.tasks ?? (await tasksFrom(tx.db, tx.workspace, from_workflow_id ?? ''));
      const defined = checkedDefinition(tasks, template?.variables ?? [], template ? 'template.tasks' : 'from_workflow_id');
      const row: WorkflowTemplateRow = {
        workspace_id: tx.workspace,
        id: newId('tmpl', tx.now),
        name,
        description: description ?? null,
        definition: JSON.stringify(defined),
        from_workflow_id: from_workflow_id ?? null,
        actor: ctx.principal.actor,
        created_at: tx.now,
      };
      await insertRows(tx.db, 'workflow_templates', row);
      const payload = { name: excerpt(name, 200), tasks: defined.tasks.length, variables: defined.variables.length };
      record(tx, ctx, { category: 'work', kind: 'template.created', subject: row.id, payload });
      return ok({ id: row.id }, 'Template created.');
    },
  }),
  implement(listTemplates, {
    read: async ({ limit, offset }, { reader, workspace: workspace_id }) => {
      const listed = matching(reader, 'workflow_templates', { workspace_id }).select('id').orderBy('name').orderBy('id').limit(limit).offset(offset);
      const templates: TemplateView[] = [];
      for (const { id } of await listed.execute()) {
        // Templates are read one at a time, so that other calls can run in between. A template may have megabytes, of which the list shows only a little.
        const row = await findRow(reader, 'workflow_templates', { workspace_id, id });
        if (row) templates.push(view(row));
        await yieldToEventLoop();
      }
      return ok({ templates, total: await countRows(reader, 'workflow_templates', { workspace_id }) });
    },
  }),
  implement(applyTemplate, {
    // A template never changes, so it can be filled in outside the transaction.
    prepare: async ({ template_id, variables = {} }, ctx) => {
      const template = await findRow(ctx.reader, 'workflow_templates', { workspace_id: ctx.workspace, id: template_id });
      const id = JSON.stringify(template_id);
      if (!template)
        throw notFound(
          'TEMPLATE_NOT_FOUND',
          `Template ${id} does not exist in this workspace.`,
          'Call template_list to see the ids of templates.',
          'template_id',
        );
      return { template, tasks: filledIn(readJson(definition, template.definition), variables) };
    },
    write: async (tx, { workflow_name, repository_path, max_parallel_tasks }, ctx, { template, tasks }) => {
      const summary = template.description ?? template.name;
      const workflow = await createWorkflow(tx, ctx, {
        name: workflow_name,
        source_type: 'custom',
        source_ref: template.id,
        source_content: summary,
        repository_path,
        max_parallel_tasks,
        auto_create_workspaces: false,
      });
      await setPlan(tx, ctx, workflow, { summary, approach: `The tasks of template ${JSON.stringify(template.name)}, in order.`, tasks });
      return ok({ workflow_id: workflow.id, tasks_created: tasks.length, status: 'ready' as const }, 'The workflow is ready.');
    },
  }),
];

function view(row: WorkflowTemplateRow): TemplateView {
  const { tasks, variables } = readJson(outline, row.definition);
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    task_count: tasks.length,
    variables,
    from_workflow_id: row.from_workflow_id,
    created_at: row.created_at,
  };
}

/** The refusal contains the id of the existing template, because the caller may be repeating a call whose answer was lost. */
const duplicate = ({ id, name }: WorkflowTemplateRow): Refusal =>
  new Refusal(
    'DUPLICATE_TEMPLATE',
    `A template named ${JSON.stringify(name)} already exists: ${id}.`,
    `Use template_id "${id}", or call template_create again with another name.`,
    {
      field: 'name',
      name,
      template_id: id,
    },
  );

export const templates: Feature = { name: 'templates', implementations: templateTools };
