// Written by `npm run schema` from the migrations. Do not edit.
import type { EngineKind } from './engine.ts';

export const SCHEMA: Record<EngineKind, string> = {
  sqlite: `CREATE TABLE "developers" ("workspace_id" text not null, "id" text not null, "name" text not null, "role" text not null, "visibility" text not null, "created_at" bigint not null, constraint "developers_key" primary key ("workspace_id", "id"), constraint "developers_name" unique ("workspace_id", "name"))
CREATE TABLE "events" ("workspace_id" text not null, "seq" bigint not null, "category" text not null, "kind" text not null, "actor" text not null, "subject" text, "session" text, "payload" text not null, "time" bigint not null, "hash" text not null, constraint "events_key" primary key ("workspace_id", "seq")) without rowid
CREATE TABLE "grants" ("workspace_id" text not null, "id" text not null, "subject" text not null, "action" text not null, "scope" text not null, "max_uses" integer, "uses" integer not null, "expires_at" bigint, "revision" integer not null, "granted_by" text not null, "created_at" bigint not null, "revoked_at" bigint, "revoked_by" text, constraint "grants_key" primary key ("workspace_id", "id"))
CREATE TABLE "journal_heads" ("workspace_id" text primary key, "seq" bigint not null, "hash" text not null)
CREATE TABLE "schema_migrations" ("number" integer primary key, "name" text not null, "applied_at" bigint not null)
CREATE TABLE "signin_links" ("workspace_id" text not null, "hash" text primary key, "developer_id" text not null, "created_at" bigint not null, "expires_at" bigint not null, "used_at" bigint)
CREATE TABLE "tokens" ("workspace_id" text not null, "id" text not null, "hash" text not null unique, "kind" text not null, "developer_id" text, "agent_type" text, "instance_id" text, "label" text not null, "created_by" text not null, "created_at" bigint not null, "expires_at" bigint, "last_used_at" bigint, "revoked_at" bigint, constraint "tokens_key" primary key ("workspace_id", "id"))
CREATE TABLE "workspaces" ("id" text primary key, "name" text not null unique, "created_at" bigint not null)
CREATE INDEX "grants_subject_action" on "grants" ("workspace_id", "subject", "action")
`,
  postgres: `developers.workspace_id text not null
developers.id text not null
developers.name text not null
developers.role text not null
developers.visibility text not null
developers.created_at bigint not null
events.workspace_id text not null
events.seq bigint not null
events.category text not null
events.kind text not null
events.actor text not null
events.subject text
events.session text
events.payload text not null
events.time bigint not null
events.hash text not null
grants.workspace_id text not null
grants.id text not null
grants.subject text not null
grants.action text not null
grants.scope text not null
grants.max_uses integer
grants.uses integer not null
grants.expires_at bigint
grants.revision integer not null
grants.granted_by text not null
grants.created_at bigint not null
grants.revoked_at bigint
grants.revoked_by text
journal_heads.workspace_id text not null
journal_heads.seq bigint not null
journal_heads.hash text not null
schema_migrations.number integer not null
schema_migrations.name text not null
schema_migrations.applied_at bigint not null
signin_links.workspace_id text not null
signin_links.hash text not null
signin_links.developer_id text not null
signin_links.created_at bigint not null
signin_links.expires_at bigint not null
signin_links.used_at bigint
tokens.workspace_id text not null
tokens.id text not null
tokens.hash text not null
tokens.kind text not null
tokens.developer_id text
tokens.agent_type text
tokens.instance_id text
tokens.label text not null
tokens.created_by text not null
tokens.created_at bigint not null
tokens.expires_at bigint
tokens.last_used_at bigint
tokens.revoked_at bigint
workspaces.id text not null
workspaces.name text not null
workspaces.created_at bigint not null
developers: developers_key PRIMARY KEY (workspace_id, id)
developers: developers_name UNIQUE (workspace_id, name)
events: events_key PRIMARY KEY (workspace_id, seq)
grants: grants_key PRIMARY KEY (workspace_id, id)
journal_heads: journal_heads_pkey PRIMARY KEY (workspace_id)
schema_migrations: schema_migrations_pkey PRIMARY KEY (number)
signin_links: signin_links_pkey PRIMARY KEY (hash)
tokens: tokens_hash_key UNIQUE (hash)
tokens: tokens_key PRIMARY KEY (workspace_id, id)
workspaces: workspaces_name_key UNIQUE (name)
workspaces: workspaces_pkey PRIMARY KEY (id)
CREATE UNIQUE INDEX developers_key ON developers USING btree (workspace_id, id)
CREATE UNIQUE INDEX developers_name ON developers USING btree (workspace_id, name)
CREATE UNIQUE INDEX events_key ON events USING btree (workspace_id, seq)
CREATE UNIQUE INDEX grants_key ON grants USING btree (workspace_id, id)
CREATE INDEX grants_subject_action ON grants USING btree (workspace_id, subject, action)
CREATE UNIQUE INDEX journal_heads_pkey ON journal_heads USING btree (workspace_id)
CREATE UNIQUE INDEX schema_migrations_pkey ON schema_migrations USING btree (number)
CREATE UNIQUE INDEX signin_links_pkey ON signin_links USING btree (hash)
CREATE UNIQUE INDEX tokens_hash_key ON tokens USING btree (hash)
CREATE UNIQUE INDEX tokens_key ON tokens USING btree (workspace_id, id)
CREATE UNIQUE INDEX workspaces_name_key ON workspaces USING btree (name)
CREATE UNIQUE INDEX workspaces_pkey ON workspaces USING btree (id)
`,
};
