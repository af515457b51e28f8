import type { QueryConfig } from 'pg'
import type { DecisionEvent } from '../../events/all.ts'
import type { Event } from '../../events/event.ts'
import type { Kind, ResourceChange, UseChange } from '../kind.ts'
import type { RowsStatement } from './rows-statement.ts'

/** Rows of `write.resource` and `write.use` as events change them; of several changes to one row only their result. */
export type ResourceChanges = {
  there: object[]
  marked: Marked[]
  ended: Ended[]
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

type Ended = UseRow & { at: Date }
/** With `deleted_at` null, the resource was restored. */
type Marked = { kind: string; id: string; deleted_at: Date | null }

type Folded = {
  there: Map<string, object>
  marked: Map<string, Marked>
  purged: Map<string, object>
  ended: Ended[]
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

/** The owner is looked up by key, not joined: joined, the planner would read the whole table for a row or two. */
const saveThere = {
  name: 'save_resources',
  text: `insert into write.resource as r (kind, id, name, owner, project, visibility, within_kind, within_id)
         select given.kind, given.id, given.name,
                coalesce(given.owner, (select w.owner from write.resource w
                                        where w.kind = given.within_kind and w.id = given.within_id)),
                coalesce(given.project, (select w.project from write.resource w
                                          where w.kind = given.within_kind and w.id = given.within_id)),
                given.visibility, given.within_kind, given.within_id
           from jsonb_to_recordset($1)
             as given (kind text, id text, name text, owner text, project text, visibility text, within_kind text,
                       within_id text)
          order by given.kind, given.id
         on conflict (kind, id) do update
           set name = coalesce(excluded.name, r.name), owner = coalesce(excluded.owner, r.owner),
               project = coalesce(excluded.project, r.project),
               visibility = coalesce(excluded.visibility, r.visibility), deleted_at = null`,
}

/** Resources of one kind. */
const markDeleted = {
  name: 'mark_resources',
  text: 'update write.resource set deleted_at = $3 where kind = $1 and id = any($2)',
}

/** Uses by one user. */
const endUses = {
  name: 'end_uses',
  text: `update write.use set until = $6
          where user_kind = $1 and user_id = $2 and used_as = any($3) and until is null
            and ($5::text is null or (used_kind = $4 and used_id = $5))`,
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

/**
 * The queries that make these changes: only the needed ones, because each takes time of its command. `together` is what
 * most commands change, and goes into one statement with their events; `after` follows in its order.
 */
export function savingsOf({ there, marked, ended, begun, purged }: ResourceChanges): Savings {
  const begins = insertOf(beginUses, begun)
  const isBegunFirst = ended.length === 0
  return {
    together: [...insertOf(saveThere, there), ...(isBegunFirst ? begins : [])],
    after: [
      ...groupedBy(marked, ({ kind, deleted_at }) => [kind, deleted_at]).map(([one, all]) => ({
        ...markDeleted,
        values: [one.kind, all.map(({ id }) => id), one.deleted_at],
      })),
      ...groupedBy(ended, ({ used_as: _, ...rest }) => Object.values(rest)).map(([one, all]) => ({
        ...endUses,
        values: [
          ...[one.user_kind, one.user_id, all.map(({ used_as }) => used_as)],
          ...[one.used_kind, one.used_id, one.at],
        ],
      })),
      ...(isBegunFirst ? [] : begins.map(alone)),
      ...insertOf(forgetPurged, purged).map(alone),
    ],
  }
}

export type Savings = { together: RowsStatement[]; after: QueryConfig[] }

const alone = ({ name, text, rows }: RowsStatement): QueryConfig => ({ name, text, values: [rows] })

const insertOf = (statement: { name: string; text: string }, rows: readonly object[]) =>
  rows.length === 0 ? [] : [{ ...statement, rows: JSON.stringify(rows) }]

/** Each group with its first item. */
const groupedBy = <T>(items: readonly T[], keyOf: (item: T) => unknown[]): [T, T[]][] =>
  [...Map.groupBy(items, item => JSON.stringify(keyOf(item))).values()].flatMap(group => {
    const [first] = group
    return first === undefined ? [] : [[first, group] satisfies [T, T[]]]
  })
