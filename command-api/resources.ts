import type { DecisionEvent } from '../events/all.ts'
import type { Event } from '../events/event.ts'
import type { Kind, ResourceChange, UseChange } from './kind.ts'

/** Rows of `write.resource` and `write.use` as events change them; of several changes to one row only their result. */
export type ResourceChanges = {
  there: object[]
  /** With `deleted_at` null, the resource was restored. */
  marked: object[]
  ended: object[]
  begun: object[]
  purged: object[]
}

/** The changes of these events; null if there are none, which costs no statement. */
export function changesOf(
  kinds: readonly Kind[],
  events: readonly (Event & { at: Date })[],
): ResourceChanges | null {
  const folded: Folded = {
    ...{ there: new Map(), marked: new Map(), purged: new Map() },
    ...{ ended: [], begun: new Map() },
  }
  for (const { at, ...event } of events)
    for (const { name, resourceOf, usesOf } of kinds) {
      const change = resourceOf(event as DecisionEvent)
      if (change) foldResource(folded, name, change, at)
      for (const use of usesOf(event as DecisionEvent)) foldUse(folded, use, at)
    }
  const { there, marked, purged, ended, begun } = folded
  const changes = {
    ...{ there: [...there.values()], marked: [...marked.values()], purged: [...purged.values()] },
    ...{ ended, begun: [...begun.values()] },
  }
  return Object.values(changes).some(rows => rows.length > 0) ? changes : null
}

type UseRow = {
  used_as: string
  user_kind: string
  user_id: string
  used_kind: string | null
  used_id: string | null
}

type Folded = {
  there: Map<string, object>
  marked: Map<string, object>
  purged: Map<string, object>
  ended: (UseRow & { at: Date })[]
  begun: Map<string, UseRow & { since: Date; until: Date | null }>
}

function foldResource(
  { there, marked, purged }: Folded,
  kind: string,
  change: ResourceChange,
  at: Date,
): void {
  const { id } = change
  const key = JSON.stringify([kind, id])
  if (change.is === 'purged') purged.set(key, { kind, id, at })
  else if (change.is === 'there') {
    const { is: _, within, ...row } = change
    there.set(key, { ...row, kind, within_kind: within?.kind, within_id: within?.id })
    marked.delete(key)
  } else marked.set(key, { kind, id, deleted_at: change.is === 'deleted' ? at : null })
}

function foldUse({ ended, begun }: Folded, { begins, user, used, as }: UseChange, at: Date): void {
  const row = {
    ...{ used_as: as, user_kind: user.kind, user_id: user.id },
    ...{ used_kind: used?.kind ?? null, used_id: used?.id ?? null },
  }
  if (begins) {
    const key = JSON.stringify(row)
    begun.set(key, { ...row, since: begun.get(key)?.since ?? at, until: null })
    return
  }
  ended.push({ ...row, at })
  for (const [key, one] of begun) if (isEndedBy(row, one)) begun.set(key, { ...one, until: at })
}

const isEndedBy = (ending: UseRow, one: UseRow): boolean =>
  ending.used_as === one.used_as &&
  ending.user_kind === one.user_kind &&
  ending.user_id === one.user_id &&
  (ending.used_id === null ||
    (ending.used_kind === one.used_kind && ending.used_id === one.used_id))

const saveThere = {
  name: 'save_resources',
  text: `insert into write.resource as r (kind, id, name, owner, project, visibility, within_kind, within_id)
         select given.kind, given.id, given.name, coalesce(given.owner, w.owner), coalesce(given.project, w.project),
                given.visibility, given.within_kind, given.within_id
           from jsonb_to_recordset($1)
             as given (kind text, id text, name text, owner text, project text, visibility text, within_kind text,
                       within_id text)
           left join write.resource w on w.kind = given.within_kind and w.id = given.within_id
          order by given.kind, given.id
         on conflict (kind, id) do update
           set name = coalesce(excluded.name, r.name), owner = coalesce(excluded.owner, r.owner),
               project = coalesce(excluded.project, r.project),
               visibility = coalesce(excluded.visibility, r.visibility), deleted_at = null`,
}

const markDeleted = {
  name: 'mark_resources',
  text: `update write.resource r set deleted_at = given.deleted_at
           from jsonb_to_recordset($1) as given (kind text, id text, deleted_at timestamptz)
          where r.kind = given.kind and r.id = given.id`,
}

const endUses = {
  name: 'end_uses',
  text: `update write.use u set until = given.at
           from jsonb_to_recordset($1)
             as given (used_as text, at timestamptz, user_kind text, user_id text, used_kind text, used_id text)
          where u.user_kind = given.user_kind and u.user_id = given.user_id and u.used_as = given.used_as
            and (given.used_id is null or (u.used_kind = given.used_kind and u.used_id = given.used_id))
            and u.until is null`,
}

const beginUses = {
  name: 'begin_uses',
  text: `insert into write.use (user_kind, user_id, used_kind, used_id, used_as, since, until)
         select user_kind, user_id, used_kind, used_id, used_as, since, until
           from jsonb_to_recordset($1)
             as given (used_as text, since timestamptz, until timestamptz, user_kind text, user_id text, used_kind text,
                       used_id text)
          order by used_kind, used_id, user_kind, user_id, used_as
         on conflict (used_kind, used_id, user_kind, user_id, used_as) do update set until = excluded.until`,
}

/** A purged thing keeps its row, because its id is never reused; the things within it lose theirs. */
const forgetPurged = {
  name: 'forget_purged',
  text: `with purged as (select * from jsonb_to_recordset($1) as row (kind text, id text, at timestamptz)),
         marked as (
           update write.resource r set deleted_at = coalesce(r.deleted_at, purged.at)
             from purged where r.kind = purged.kind and r.id = purged.id),
         gone as (
           delete from write.resource r using purged
            where r.within_kind = purged.kind and r.within_id = purged.id returning r.kind, r.id)
         delete from write.use u
          using (select kind, id from purged union all select kind, id from gone) as by
          where u.user_kind = by.kind and u.user_id = by.id`,
}

/** The queries that make these changes, in their order: only those with rows, because each takes time of every command. */
export const savingsOf = ({ there, marked, ended, begun, purged }: ResourceChanges) =>
  [
    { statement: saveThere, rows: there },
    { statement: markDeleted, rows: marked },
    { statement: endUses, rows: ended },
    { statement: beginUses, rows: begun },
    { statement: forgetPurged, rows: purged },
  ].flatMap(({ statement, rows }) =>
    rows.length === 0 ? [] : [{ ...statement, values: [JSON.stringify(rows)] }],
  )
