import { DatabaseSync } from 'node:sqlite';

/** Statements that create objects with names that SQLite reserves for itself, and how the product must report these objects. */
export const DISGUISED = {
  'create trigger pwned after insert on events begin update tokens set revoked_at = null; end': 'trigger sqlite_autoindex_events_9',
  'create view pwned as select * from tokens': 'view sqlite_autoindex_events_9',
  'create table pwned (x text)': 'table sqlite_autoindex_events_9',
  'create index pwned on tokens (label)': 'index sqlite_autoindex_events_9',
};

/** Creates the object `pwned` with a statement, and then renames it to such a reserved name. */
export function disguise(path: string, statement: string): void {
  const db = new DatabaseSync(path);
  db.exec(statement);
  db.enableDefensive(false);
  db.exec('pragma writable_schema = on');
  db.exec(`update sqlite_master set name = 'sqlite_autoindex_events_9', sql = replace(sql, 'pwned', 'sqlite_autoindex_events_9') where name = 'pwned'`);
  db.exec(`update sqlite_master set tbl_name = name where type in ('table', 'view') and name = 'sqlite_autoindex_events_9'`);
  db.close();
}
