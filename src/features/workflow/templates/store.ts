import type { Db } from '../../../storage/engine.ts';
import type { WorkflowTemplateRow } from '../../../storage/schema-rows.ts';

const templatesIn = (db: Db, workspace: string) => db.selectFrom('workflow_templates').where('workspace_id', '=', workspace);

export async function insertTemplate(db: Db, row: WorkflowTemplateRow): Promise<void> {
  await db.insertInto('workflow_templates').values(row).execute();
}

export async function findTemplate(db: Db, workspace: string, by: { id: string } | { name: string }): Promise<WorkflowTemplateRow | undefined> {
  const templates = templatesIn(db, workspace).selectAll();
  return await ('id' in by ? templates.where('id', '=', by.id) : templates.where('name', '=', by.name)).executeTakeFirst();
}

const LISTED = ['workspace_id', 'id', 'name', 'description', 'from_workflow_id', 'created_at'] as const;
export type ListedTemplate = Pick<WorkflowTemplateRow, (typeof LISTED)[number]>;

export async function definitionOf(db: Db, { workspace_id, id }: ListedTemplate): Promise<Pick<WorkflowTemplateRow, 'definition'>> {
  return await templatesIn(db, workspace_id).select('definition').where('id', '=', id).executeTakeFirstOrThrow();
}

export async function pageOfTemplates(db: Db, workspace: string, limit: number, offset: number): Promise<{ rows: ListedTemplate[]; total: number }> {
  const rows = await templatesIn(db, workspace).select(LISTED).orderBy('name').orderBy('id').limit(limit).offset(offset).execute();
  const { total } = await templatesIn(db, workspace)
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { rows, total: Number(total) };
}
