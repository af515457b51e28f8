import type { DecisionEvent } from '../events/all.ts'
import type { Event } from '../events/event.ts'
import type { Kind, UseChange } from './kind.ts'

/** Rows of `write.resource` and `write.use` as events change them, in the order of the events. */
export type ResourceChanges = { resources: object[]; uses: object[] }

/** The changes of these events; null if there are none, which costs no statement. */
export function changesOf(
  kinds: readonly Kind[],
  events: readonly (Event & { at: Date })[],
): ResourceChanges | null {
  const resources: object[] = []
  const uses: object[] = []
  for (const { at, ...event } of events)
    for (const { name, resourceOf, usesOf } of kinds) {
      const change = resourceOf(event as DecisionEvent)
      if (change)
        resources.push({
          ...change,
          within: change.is === 'there' ? change.within : null,
          kind: name,
          at,
        })
      uses.push(...usesOf(event as DecisionEvent).map(use => rowOf(use, at)))
    }
  const numbered = (rows: object[]) => rows.map((row, nth) => ({ ...row, nth }))
  if (resources.length + uses.length === 0) return null
  return { resources: numbered(resources), uses: numbered(uses) }
}

const rowOf = ({ begins, user, used, as }: UseChange, at: Date) => ({
  ...{ begins, as, at, user_kind: user.kind, user_id: user.id },
  ...{ used_kind: used?.kind ?? null, used_id: used?.id ?? null },
})

/**
 * One statement for all changes of a transaction's append. If a resource changes several times, the last change counts. So the
 * changes do not depend on the statement's snapshot, except for the owner of an enclosing resource, which is always older.
 */
const saveChanges = {
  name: 'save_resources',
  text: `with given as (
           select distinct on (kind, id) * from jsonb_to_recordset($1)
             as row (nth int, kind text, id text, "is" text, owner text, project text, visibility text, within jsonb,
                     at timestamptz)
            order by kind, id, nth desc),
         marked as (
           update write.resource r set deleted_at = case given."is" when 'deleted' then given.at end
             from given where r.kind = given.kind and r.id = given.id and given."is" <> 'there'),
         kept as (
           insert into write.resource as r (kind, id, owner, project, visibility)
           select given.kind, given.id, coalesce(given.owner, w.owner), coalesce(given.project, w.project), given.visibility
             from given left join write.resource w on w.kind = given.within ->> 'kind' and w.id = given.within ->> 'id'
            where given."is" = 'there' order by given.kind, given.id
           on conflict (kind, id) do update
             set owner = coalesce(excluded.owner, r.owner), project = coalesce(excluded.project, r.project),
                 visibility = coalesce(excluded.visibility, r.visibility), deleted_at = null),
         changed as (
           select * from jsonb_to_recordset($2)
             as row (nth int, begins boolean, "as" text, at timestamptz, user_kind text, user_id text, used_kind text,
                     used_id text)),
         ended as (
           update write.use u set until = c.at from changed c
            where not c.begins and u.user_kind = c.user_kind and u.user_id = c.user_id and u.used_as = c."as"
              and (c.used_id is null or (u.used_kind = c.used_kind and u.used_id = c.used_id)) and u.until is null
              and not exists (select from changed b where b.begins and b.nth > c.nth and b.user_kind = u.user_kind
                                 and b.user_id = u.user_id and b.used_kind = u.used_kind and b.used_id = u.used_id
                                 and b."as" = u.used_as))
         insert into write.use as u (user_kind, user_id, used_kind, used_id, used_as, since)
         select user_kind, user_id, used_kind, used_id, "as", min(at) from changed where begins
          group by user_kind, user_id, used_kind, used_id, "as"
             on conflict (used_kind, used_id, user_kind, user_id, used_as) do update set until = null`,
}

/** The query that makes these changes. */
export const savingOf = ({ resources, uses }: ResourceChanges) => ({
  ...saveChanges,
  values: [JSON.stringify(resources), JSON.stringify(uses)],
})
